import { expect, it, vi } from 'vitest'
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
  expect(written).toEqual(['\u001b[35mrules/a.mdc was left out.\u001b[39m\n', '\u001b[2monetwo\u001b[22m\n'])
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

const start = (callId: string, toolName: string, summary: string) =>
  ({ ...base, type: 'tool-start', callId, toolName, summary, args: {}, icon: '' }) as const
const ended = (callId: string, toolName: string) =>
  ({ ...base, type: 'tool-end', callId, toolName, isError: false, durationMs: 5, content: [] }) as const

it('tells calls apart that run side by side, and keeps an empty line between them and words', () => {
  const { written, view } = viewWithout(true)
  const say = (text: string) => view.show({ ...base, type: 'message-delta', messageId: 'm', text })
  say('I look.')
  view.show(start('a', 'terminal', 'echo a'))
  view.show(start('b', 'terminal', 'echo b'))
  view.show(ended('b', 'terminal'))
  view.show(ended('a', 'terminal'))
  say('Done.')
  expect(written.join('')).toBe('I look.\n\n✓ terminal  echo b · 5 ms\n✓ terminal  echo a · 5 ms\n\nDone.')
})

it('announces what takes its time where nothing else shows it, with the steps of what has steps', () => {
  vi.useFakeTimers()
  try {
    const { written, view } = viewWithout(false)
    view.show(start('a', 'terminal', 'make'))
    view.show({ ...base, type: 'tool-progress', callId: 'a', text: 'compiling' })
    view.show(start('b', 'terminal', 'true'))
    view.show(ended('b', 'terminal'))
    vi.advanceTimersByTime(10_000)
    view.show(ended('a', 'terminal'))
    view.show(start('c', 'delegate_task', 'delegate: Count.'))
    view.show({ ...base, type: 'tool-progress', callId: 'c', text: 'read a.txt' })
    view.show(ended('c', 'delegate_task'))
    expect(written.join('').trimEnd().split('\n')).toEqual([
      ...['✓ terminal  true · 5 ms', '· terminal  make', '✓ terminal  make · 5 ms'],
      ...['· delegate  Count.', '  read a.txt', '✓ delegate  Count. · 5 ms'],
    ])
  } finally {
    vi.useRealTimers()
  }
})

it('shows what the model thinks while that is wanted, apart from what it says, and nothing a terminal would obey', () => {
  const written: string[] = []
  const output = { write: (text: string) => void written.push(text), columns: () => 80, colors: false }
  let isWanted = true
  const view = createProgressView({ output: output as never, text: true, showsThoughts: () => isWanted })
  const thinks = (messageId: string, text: string) => view.show({ ...base, type: 'reasoning-delta', messageId, text })
  const says = (messageId: string, text: string) => view.show({ ...base, type: 'message-delta', messageId, text })
  const ends = (messageId: string, content: readonly object[]) =>
    view.show({ ...base, type: 'message-end', messageId, message: { role: 'assistant', content } as never })
  thinks('m', '\n\nLet me \u001b[2')
  thinks('m', 'Jsee.')
  says('m', 'I look.')
  ends('m', [{ type: 'reasoning', text: 'Let me see.' }])
  ends('n', [{ type: 'reasoning', text: 'All at once.' }])
  isWanted = false
  thinks('o', 'Never mind.')
  says('o', 'Done.')
  ends('o', [{ type: 'reasoning', text: 'Never mind.' }])
  expect(written.join('')).toBe('Let me see.\n\nI look.\n\nAll at once.\n\nDone.\n')
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
  expect(written.join('')).toBe('\nYes\n  The reply broke off; asked again, it says:\nNo.\n')
})

it('shows of calls what the person wants to see, and what failed always', () => {
  const shownOf = (calls: 'off' | 'all' | 'verbose', isSpoken = false) => {
    const written: string[] = []
    const look = () => ({ colours: {}, prompt: '>', isSpoken })
    const output = { write: (line: string) => void written.push(line), columns: () => 80, colors: false, look }
    const view = createProgressView({ output: output as never, text: true, calls: () => calls })
    const content = [{ type: 'text', text: 'one\ntwo' }] as const
    view.show(start('a', 'read_file', 'read a.txt'))
    view.show({ ...ended('a', 'read_file'), content, data: {} })
    view.show(start('b', 'read_file', 'read b.txt'))
    view.show({ ...ended('b', 'read_file'), isError: true, content: [{ type: 'text', text: 'It is gone.' }] })
    return written.join('')
  }
  const [read, failed] = ['✓ read  a.txt · 2 lines · 5 ms\n', '✗ read  b.txt · failed · 5 ms\n  It is gone.\n']
  expect(shownOf('all')).toBe(read + failed)
  expect(shownOf('off')).toBe(failed)
  expect(shownOf('verbose')).toBe(`${read}  one\n  two\n${failed}`)
  expect(shownOf('all', true)).toBe((read + failed).replace('✓', 'done:').replace('✗', 'failed:'))
})

it('breaks what it says of another attempt between words', () => {
  const written: string[] = []
  const output = { write: (line: string) => void written.push(line), columns: () => 80, colors: false, isTTY: true }
  const view = createProgressView({ output: output as never, text: true })
  const message = 'Nothing is listening at http://127.0.0.1:18911/v1; is the server running?'
  view.show({ ...base, type: 'retry-wait', attempt: 1, delayMs: 1000, reason: 'connection', message } as never)
  expect(written.join('')).toBe(`  ${message}\n  Trying again in 1.0 s (attempt 1).\n`)
})
