// What calls cost, what they may cost, and who answers when the first model does not.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer } from '@hermes/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
beforeEach(() => mkdir(scene.home, { recursive: true }))

const hermes = (...args: readonly string[]) => runCli(args, { ...scene, env: { TZ: 'UTC' } })
const ask = (query: string, model = 'm', ...flags: readonly string[]) =>
  hermes('chat', '-q', query, '--base-url', scene.server.baseUrl, '-m', model, ...flags)
const today = () => new Date().toISOString().slice(0, 10)

describe('hermes usage', () => {
  it('says in a new home that nothing was called', async () => {
    expect(await hermes('usage')).toEqual({
      exitCode: 0,
      signal: null,
      stdout: '',
      stderr: 'No model was called in the last 30 days.\n',
    })
  })

  it('adds up by day, model and session, with bars for the cost, and as JSON', async () => {
    scene.server.enqueue(
      { text: 'a', usage: { inputTokens: 12_000, outputTokens: 500, cacheReadTokens: 9_000, costUsd: 0.75 } },
      { text: 'b', usage: { inputTokens: 1_000, outputTokens: 10, costUsd: 0.25 } },
    )
    expect(await ask('one')).toMatchObject({ exitCode: 0, stdout: 'a\n' })
    expect(await ask('two', 'other')).toMatchObject({ exitCode: 0, stdout: 'b\n' })
    const { stdout } = await hermes('usage', '--by', 'model')
    expect(stdout.split('\n')).toEqual([
      'Usage of the last 30 days, by model',
      '',
      '  model  calls   in  cached  out   cost',
      expect.stringMatching(/^ {2}m {10}1 {2}12k {4}75 % {2}500 {2}\$0\.75 {2}█{30,40}$/),
      expect.stringMatching(/^ {2}other {6}1 {3}1k {5}0 % {3}10 {2}\$0\.25 {2}█{10,13}[▏▎▍▌▋▊▉]?$/),
      '  total      2  13k    69 %  510  $1.00',
      '',
      'Prices: reported.',
      '',
    ])
    expect((await hermes('usage')).stdout).toContain(`  ${today()}      2  13k`)
    const json = JSON.parse((await hermes('usage', '--by', 'purpose', '--json')).stdout) as Record<string, never>
    expect(json).toMatchObject({
      by: 'purpose',
      days: 30,
      rows: [{ key: 'turn', calls: 2, knownCostUsd: 1 }],
      total: { usage: { inputTokens: 13_000, outputTokens: 510, cacheReadTokens: 9_000 } },
    })
  })

  it('never shows an unknown cost as none', async () => {
    scene.server.enqueue({ text: 'a' })
    await ask('one')
    const { stdout } = await hermes('usage', '--days', '1')
    expect(stdout).toContain('unknown')
    expect(stdout).toContain('The cost of one call is not known and not in the sums.')
  })

  it('says which tokens were estimated, because the answer broke off', async () => {
    await hermes('config', 'set', 'agent.api_max_retries', '0')
    scene.server.enqueue({ fault: 'cut', text: 'half of it', afterChunks: 2 })
    expect((await ask('one')).exitCode).toBe(1)
    const { stdout } = await hermes('usage', '--by', 'model')
    expect(stdout).toContain('The tokens of one call are estimated: the answer broke off.')
    expect(JSON.parse((await hermes('usage', '--json')).stdout)).toMatchObject({
      total: { calls: 1, estimatedCalls: 1 },
    })
  })

  it('refuses what it does not know in one line', async () => {
    for (const flags of [
      ['--by', 'week'],
      ['--days', '0'],
      ['--days', 'x'],
    ]) {
      const { exitCode, stdout, stderr } = await hermes('usage', ...flags)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
  })
})

describe('a budget', () => {
  it('stops before the call that would go over it, keeps the session, and lets it go on once it is raised', async () => {
    await hermes('config', 'set', 'budget.day.usd', '0.50')
    const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.5 }
    scene.server.enqueue({ text: 'first', usage })
    expect(await ask('one')).toMatchObject({ exitCode: 0, stdout: 'first\n' })
    const stopped = await ask('two')
    expect(stopped).toMatchObject({ exitCode: 3, stdout: '' })
    expect(stopped.stderr).toMatch(/The budget of \$0\.50 for today is spent \(\$0\.50\)\./)
    const id = /hermes chat -r (\S+)/.exec(stopped.stderr)![1]!
    await hermes('config', 'set', 'budget.day.usd', '2')
    scene.server.enqueue({ text: 'second', usage })
    expect(await hermes('chat', '-r', id, '-q', 'go on', '--base-url', scene.server.baseUrl, '-m', 'm')).toMatchObject({
      exitCode: 0,
      stdout: 'second\n',
    })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toContain('two')
  })
})

describe('hermes fallback', () => {
  it('adds, lists and removes who answers next, and a run shows who did', async () => {
    const other = await startModelServer([{ text: 'from the other' }])
    try {
      expect(await hermes('fallback')).toMatchObject({ exitCode: 0, stdout: '' })
      const added = await hermes('fallback', 'add', 'custom', 'spare', '--base-url', other.baseUrl)
      expect(added).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('spare at custom') })
      expect((await hermes('fallback', 'list')).stdout).toBe(`1  spare at custom, ${other.baseUrl}\n`)
      scene.server.enqueue({ fault: 'status', status: 402, body: { error: { message: 'Insufficient credits.' } } })
      const answered = await ask('one')
      expect(answered).toMatchObject({ exitCode: 0, stdout: 'from the other\n' })
      expect(answered.stderr).toContain('Insufficient credits.')
      expect(answered.stderr.replace(/\s+/g, ' ')).toContain('Until the end of this turn spare at custom answers.')
      expect(await hermes('fallback', 'remove', '1')).toMatchObject({ exitCode: 0 })
      expect((await hermes('fallback', 'list', '--json')).stdout).toBe('{"fallbacks":[],"problems":[]}\n')
    } finally {
      await other.close()
    }
  })

  it('keeps comments of config.yaml, and says what keeps an entry from answering', async () => {
    const text = 'fallback_providers:\n  - provider: openai # the old key\n    model: gpt-4.1\n'
    await writeFile(join(scene.home, 'config.yaml'), text)
    const listed = await hermes('fallback', 'list')
    expect(listed).toMatchObject({ exitCode: 1, stdout: '1  gpt-4.1 at openai\n' })
    expect(listed.stderr).toMatch(/fallback_providers\.0 cannot be used: OpenAI needs a key/)
    const added = await hermes('fallback', 'add', 'openrouter', 'a/b')
    expect(added.stderr).toContain('OPENROUTER_API_KEY')
    expect(await readFile(join(scene.home, 'config.yaml'), 'utf8')).toBe(
      `${text}  - provider: openrouter\n    model: a/b\n`,
    )
  })

  it('refuses a provider that does not exist, naming the nearest, and what is not there', async () => {
    const wrong = await hermes('fallback', 'add', 'openroter', 'm')
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('openrouter') })
    expect(await hermes('fallback', 'remove', '3')).toMatchObject({ exitCode: 2 })
  })
})
