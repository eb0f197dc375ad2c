import { expect, it } from 'vitest'
import type { Output } from '../io.js'
import { createProgressView } from './progress.js'

it('shows notices without what a terminal would obey: they may name files that somebody else named', () => {
  const written: string[] = []
  const output = {
    write: (text: string) => void written.push(text),
    columns: () => 80,
    colors: true,
  } as never as Output
  const view = createProgressView({ output, text: true })
  const event = { type: 'notice', runId: 'r', sessionId: 's', agentPath: ['root'], atMs: 0 } as const
  view.show({ ...event, level: 'warning', text: 'rules/\u001b]52;c;eA==\u0007a.mdc was left out\u001b[2J.' })
  view.show({ ...event, level: 'info', text: 'one\u0008two' })
  expect(written).toEqual(['\u001b[33mrules/a.mdc was left out.\u001b[39m\n', '\u001b[2monetwo\u001b[22m\n'])
})

const base = { runId: 'r', sessionId: 's', agentPath: ['root'], atMs: 0 } as const

function viewWithout(text: boolean) {
  const written: string[] = []
  const output = { write: (line: string) => void written.push(line), columns: () => 80, colors: false }
  return { written, view: createProgressView({ output: output as never, text }) }
}

it('shows what the model says before a call where its answer goes elsewhere, and not the answer', () => {
  const { written, view } = viewWithout(false)
  const call = { type: 'tool-call', id: 'c', name: 'terminal', args: {}, rawArgs: '{}' } as const
  const end = (content: readonly unknown[]) =>
    view.show({ ...base, type: 'message-end', messageId: 'm', message: { role: 'assistant', content } as never })
  view.show({ ...base, type: 'message-delta', messageId: 'm', text: 'Let me look.' })
  end([{ type: 'text', text: 'Let me look.\u001b[2J\n' }, call])
  end([call])
  end([{ type: 'text', text: 'All is well.' }])
  expect(written).toEqual(['Let me look.\n'])
})

it('counts the lines of a command that it does not show, and shows what is said below them', () => {
  const { written, view } = viewWithout(false)
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
  const end = (output: string, notes: readonly string[]) => {
    const text = [output, ...notes].join('\n')
    const content = [{ type: 'text', text }] as const
    const event = { type: 'tool-end', callId: 'c', toolName: 'terminal', isError: false, durationMs: 5 } as const
    view.show({ ...base, ...event, content, data: { output } })
    return written.splice(0).join('').trimEnd().split('\n').slice(8)
  }
  expect(end(lines(20).join('\n'), ['[exit 3 · 0.1 s]'])).toEqual(['  … 12 more lines', '  [exit 3 · 0.1 s]', '  5 ms'])
  expect(end([...lines(10), '[… 1,234 bytes left out …]', 'end'].join('\n'), [])).toEqual([
    '  … 3 more lines, and 1,234 bytes that were left out',
    '  5 ms',
  ])
  expect(end(lines(9).join('\n'), [])).toEqual(['  line 9', '  5 ms'])
})

it('shows an answer once that broke off twice, and where another one begins', () => {
  const { written, view } = viewWithout(true)
  const delta = (messageId: string, text: string) => view.show({ ...base, type: 'message-delta', messageId, text })
  const cut = (discardedMessageId: string) =>
    view.show({ ...base, type: 'retry-wait', message: 'It broke.', discardedMessageId } as never)
  const end = () =>
    view.show({ ...base, type: 'message-end', messageId: 'm', message: { role: 'assistant', content: [] } as never })
  delta('a', 'The answer ')
  cut('a')
  delta('b', 'The ')
  cut('b')
  delta('c', 'The answer is ')
  delta('c', '42.')
  end()
  expect(written.splice(0).join('')).toBe('The answer is 42.\n')
  delta('d', 'Yes')
  cut('d')
  delta('e', 'No.')
  end()
  expect(written.join('')).toBe('Yes\n  The reply broke off; asked again, it says:\nNo.\n')
})
