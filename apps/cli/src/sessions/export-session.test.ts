import { type Entry, noUsage } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { expect, it } from 'vitest'
import { exportHtml } from './export-html.js'
import { exportJsonl, exportMarkdown } from './export-session.js'

const session: SessionInfo = {
  ...{
    id: '20260101_000000_abcdef',
    source: 'cli',
    person: null,
    title: null,
    model: 'm',
    provider: 'custom',
    baseUrl: null,
  },
  ...{ parentSessionId: null, cwd: '/work', startedAtMs: 0, lastActiveAtMs: 0, endedAtMs: null, endReason: null },
  ...{ messageCount: 3, toolCallCount: 1, usage: noUsage, apiCallCount: 2, preview: 'Look\naround' },
}
const at = { atMs: 0 }
const call = {
  type: 'tool-call',
  id: 'c1',
  name: 'terminal',
  args: { command: 'ls' },
  rawArgs: '{"command":"ls"}',
} as const
const entries: readonly Entry[] = [
  { ...at, seq: 1, type: 'prompt', system: 'secret sauce', tools: [] },
  { ...at, seq: 2, type: 'message', message: { role: 'user', content: [{ type: 'text', text: 'Look around' }] } },
  { ...at, seq: 3, type: 'message', message: { role: 'assistant', content: [call], finishReason: 'tool-calls' } },
  {
    ...{ ...at, seq: 4, type: 'message' },
    message: {
      ...{ role: 'tool', callId: 'c1', toolName: 'terminal', isError: true },
      content: [{ type: 'text', text: '```js\nx\n```' }],
    },
  },
]

it('writes a document in which no result can break out of its block', () => {
  expect(exportMarkdown({ session, entries })).toBe(
    [
      '# Look around',
      '',
      '- Session: `20260101_000000_abcdef`',
      '- Began: 1970-01-01T00:00:00.000Z',
      '- Model: m at custom',
      '- Folder: `/work`',
      '',
      '## User',
      '',
      'Look around',
      '',
      '## Assistant',
      '',
      'Calls `terminal`:',
      '',
      '```json',
      '{"command":"ls"}',
      '```',
      '',
      '### Result of terminal (failed)',
      '',
      '````',
      '```js',
      'x',
      '```',
      '````',
      '',
    ].join('\n'),
  )
})

it('writes every entry as one JSON line after the session', () => {
  const lines = exportJsonl({ session, entries }).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([{ type: 'session', session }, ...entries])
})

it('says what was taken back', () => {
  const undone: Entry[] = [...entries, { ...at, seq: 5, type: 'undo', fromSeq: 2 }]
  expect(exportMarkdown({ session, entries: undone })).toContain(
    '\n*Taken back: everything from #2 (“Look around”) up to here.*\n',
  )
  expect(exportHtml({ session, entries: undone })).toContain('Taken back: everything from #2')
})
