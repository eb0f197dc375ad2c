import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Io } from '../io.js'
import { logs } from './logs.js'

const line = (time: string, level: number, msg: string, more = {}) =>
  `${JSON.stringify({ level, time: Date.parse(time), pid: 1, hostname: 'h', ...more, msg })}\n`

it.each([
  [{}, ['opened', 'no JSON at all', 'in nanoseconds', 'slow', 'failed']],
  [{ lines: 2 }, ['slow', 'failed']],
  [{ level: 'error' as const }, ['no JSON at all', 'in nanoseconds', 'failed']],
  [{ since: '2026-01-01T10:01:30Z' }, ['no JSON at all', 'in nanoseconds', 'failed']],
  [{ session: 's-o' }, ['opened']],
  [{ text: 'ECONN' }, ['failed']],
])('logs with %j shows %j, by time, and no escape sequence', async (flags, expected) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-logs-'))
  onTestFinished(() => rm(home, { recursive: true }))
  await mkdir(join(home, 'logs'))
  const agent = [
    line('2026-01-01T10:00:00Z', 30, 'opened', { sessionId: 's-one' }),
    'no JSON at all\n',
    '{"time":1.7e18,"msg":"in nanoseconds"}\n',
    line('2026-01-01T10:02:00Z', 50, 'failed\u001b[2J', { sessionId: 's-two', error: 'econnrefused' }),
    '{"level":50,"time":1,"msg":"not ended yet',
  ]
  await writeFile(join(home, 'logs', 'agent.log'), agent.join(''))
  // As one that is rotated away while it is looked at.
  await symlink('gone', join(home, 'logs', 'gone.log'))
  await writeFile(join(home, 'logs', 'gateway.log'), line('2026-01-01T10:01:00Z', 40, 'slow'))
  let shown = ''
  const stdout = { colors: false, isTTY: false, columns: () => 80, write: (text: string) => void (shown += text) }
  const io = { env: { HERMES_HOME: home }, userHome: home, stdout, stderr: stdout } as unknown as Io
  expect(await logs(io, undefined, { lines: 50, ...flags })).toBe(0)
  const words = shown
    .trimEnd()
    .split('\n')
    .map((text, at) => (text.includes(expected[at] ?? '?') ? expected[at] : text))
  expect(words).toEqual(expected)
  expect(shown).not.toContain('\u001b')
})
