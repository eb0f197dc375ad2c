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
