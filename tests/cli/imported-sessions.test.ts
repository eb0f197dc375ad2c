// Sessions that other programs began are sessions like any other: found by a part of a word, gone on with, and not over any more then.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const hermes = (...args: string[]) => runCli(args, { home: scene.home, cwd: scene.cwd })

const claude = (type: string, content: unknown) => ({
  type,
  message: { role: type, content, ...(type === 'assistant' ? { id: 'm', model: 'claude-opus-4-5' } : {}) },
  uuid: 'u',
  sessionId: '4f35e220',
  cwd: '/home/me/project',
  version: '2.1.12',
  timestamp: '2026-01-20T11:57:17.716Z',
})
const codex = (type: string, payload: object) => ({ timestamp: '2025-12-08T00:37:46.102Z', type, payload })

/** The last call of each was never answered: the program was ended. */
const TRANSCRIPTS = {
  'claude-code-4f35e220': {
    file: '4f35e220.jsonl',
    lines: [
      claude('user', 'Where is the teakettle?'),
      claude('assistant', [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }]),
    ],
  },
  'codex-019a2d7a': {
    file: 'rollout-2025-12-08T00-37-46-019a2d7a.jsonl',
    lines: [
      codex('session_meta', { id: '019a2d7a', cwd: '/p', cli_version: '0.65.0', model_provider: 'openai' }),
      codex('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Where is the teakettle?' }],
      }),
      codex('response_item', { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c' }),
    ],
  },
  '20250301_123000_ab12cd34': {
    file: '20250301_123000_ab12cd34.jsonl',
    lines: [
      { role: 'session_meta', platform: 'cli', model: 'm' },
      { role: 'user', content: 'Where is the teakettle?', timestamp: '2025-03-01T12:30:05Z' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c', function: { name: 'terminal', arguments: '{"command":"ls"}' } }],
      },
    ],
  },
} as const

it.each(Object.entries(TRANSCRIPTS))('%s goes on with -r as if it had begun here', async (id, { file, lines }) => {
  await writeFile(join(scene.cwd, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect((await hermes('sessions', 'import', file)).exitCode).toBe(0)
  expect((await hermes('sessions', 'search', '*eakettl*')).stdout).toContain(id)
  const listed = async () => JSON.parse((await hermes('sessions', 'list', '--json')).stdout.trim().split('\n')[0]!)
  expect(await listed()).toMatchObject({ id, endReason: 'imported' })

  scene.server.enqueue({ text: 'On the stove.' })
  const model = ['--base-url', scene.server.baseUrl, '--provider', 'custom', '-m', 'm']
  expect(await hermes('chat', '-r', id.slice(0, 14), '-q', 'And now?', ...model)).toMatchObject({
    exitCode: 0,
    stdout: 'On the stove.\n',
  })
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('Where is the teakettle?')
  expect(await listed()).toMatchObject({ id, endedAtMs: expect.any(Number), endReason: 'completed' })

  scene.server.enqueue({ text: 'Still there.' })
  expect(await hermes('chat', '-c', '--any', '-q', 'Again?', ...model)).toMatchObject({
    exitCode: 0,
    stdout: 'Still there.\n',
  })
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('On the stove.')
})
