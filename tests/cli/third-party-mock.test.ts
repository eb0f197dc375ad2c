// A task with tools on each wire, against a mock of other people: no server of ours defines the wire for us.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FixtureFileEntry, LLMock } from '@copilotkit/aimock'
import { temporaryHome } from '@hermes/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../support/cli.js'

/** How each wire is asked for, and the path that its requests go to. */
const WIRES: readonly (readonly [wire: string, path: RegExp, flags: (url: string) => readonly string[]])[] = [
  ['chat completions', /^\/v1\/chat\/completions$/, (url) => ['--base-url', `${url}/v1`, '-m', 'some-model']],
  [
    'anthropic messages',
    /^\/v1\/messages$/,
    (url) => ['--provider', 'anthropic', '--base-url', url, '-m', 'claude-opus-5-5'],
  ],
  ['responses', /^\/v1\/responses$/, (url) => ['--provider', 'xai', '--base-url', `${url}/v1`, '-m', 'grok-4.5']],
  [
    'bedrock converse',
    /^\/model\/[^/]+\/converse-stream$/,
    (url) => ['--provider', 'bedrock', '--base-url', url, '-m', 'us.anthropic.claude-opus-5-5-v1:0'],
  ],
]
const KEYS = {
  ANTHROPIC_API_KEY: 'sk-ant-test-1234567890',
  XAI_API_KEY: 'xai-test-1234567890',
  AWS_BEARER_TOKEN_BEDROCK: 'ABSK-test-1234567890',
}

const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) })
const TASK: readonly FixtureFileEntry[] = [
  {
    match: { userMessage: 'two tools', hasToolResult: false },
    response: {
      content: 'Writing first. ',
      toolCalls: [call('call_w1', 'write_file', { path: 'a.txt', content: 'hello\n' })],
    },
  },
  {
    match: { userMessage: 'two tools', toolCallId: 'call_w1' },
    response: { toolCalls: [call('call_t2', 'terminal', { command: 'cat a.txt' })] },
  },
  {
    match: { userMessage: 'two tools', toolCallId: 'call_t2', toolResultContains: 'hello' },
    response: { content: 'Both tools ran.' },
  },
  { match: { userMessage: 'and now' }, response: { content: 'Nothing more.', reasoning: 'There is nothing left.' } },
]

/** A home and a folder of its own, with a mock that answers as `fixtures` say; anything else it is asked is an error. */
async function open(flags: (url: string) => readonly string[], fixtures: readonly FixtureFileEntry[]) {
  const mock = new LLMock({ port: 0, strict: true })
  const temporary = await temporaryHome()
  const [home, cwd] = [join(temporary.path, 'user', '.hermes'), join(temporary.path, 'work')]
  await mkdir(cwd)
  mock.addFixturesFromJSON([...fixtures])
  await mock.start()
  onTestFinished(async () => {
    await mock.stop()
    await temporary.remove()
  })
  return {
    chat: (question: string, ...more: readonly string[]) =>
      runCli(['chat', '-q', question, ...more, ...flags(mock.url)], { home, cwd, env: KEYS }),
    paths: () => mock.getRequests().map((request) => request.path.replace(/\?.*/, '')),
    statuses: () => mock.getRequests().map(({ response }) => response.status),
    written: () => readFile(join(cwd, 'a.txt'), 'utf8'),
  }
}

describe.each(WIRES)('hermes chat on the wire %s', (_wire, path, flags) => {
  it('writes and reads a file with tools, and goes on in a new process', async () => {
    const { chat, paths, statuses, written } = await open(flags, TASK)
    expect(await chat('Use two tools.')).toMatchObject({ exitCode: 0, stdout: 'Both tools ran.\n' })
    expect(await written()).toBe('hello\n')
    expect(await chat('What is left? (and now)', '-c')).toMatchObject({ exitCode: 0, stdout: 'Nothing more.\n' })
    for (const requested of paths()) expect(requested).toMatch(path)
    expect(statuses()).toEqual([200, 200, 200, 200])
  })

  it('says in one line that a key is wrong, without the key', async () => {
    const error = { message: 'Incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key' }
    const { chat } = await open(flags, [{ match: { userMessage: 'hello' }, response: { error, status: 401 } }])
    const { exitCode, stdout, stderr } = await chat('hello')
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Incorrect API key')
    for (const key of Object.values(KEYS)) expect(stderr).not.toContain(key)
  })
})

it('goes on after a fault of each kind, each side effect once', async () => {
  const limit = { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 1 }
  const faults = [
    [0, limit, {}],
    [1, { content: 'one two three four five six' }, { chunkSize: 4, latency: 40, truncateAfterChunks: 3 }],
    [2, { content: 'one two three four' }, { chunkSize: 4, latency: 50, disconnectAfterMs: 120 }],
    [3, { content: 'one two three four five six' }, { chunkSize: 4, latency: 40, truncateAfterChunks: 3 }],
  ] as const
  const match = { userMessage: 'two tools', toolCallId: 'call_w1', sequenceIndex: 0 }
  const run = async ([at, response, more]: (typeof faults)[number]) => {
    const [wire, , flags] = WIRES[at]!
    const fault = { match, response, ...more } as FixtureFileEntry
    const { chat, paths, written } = await open(flags, [fault, ...TASK])
    const { exitCode, stdout } = await chat('Use two tools.')
    return [wire, exitCode, stdout, await written(), paths().length]
  }
  // The waits before another attempt are real ones, so the wires wait side by side.
  const ends = await Promise.all(faults.map(run))
  expect(ends).toEqual(WIRES.map(([wire]) => [wire, 0, 'Both tools ran.\n', 'hello\n', 4]))
}, 60_000)
