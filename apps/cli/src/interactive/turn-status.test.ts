import type { Activity, AgentEvent, AgentEventBody } from '@hermes/agent-core'
import { expect, it } from 'vitest'
import { createTurnStatus } from './turn-status.js'

const activity = (state: Activity['state'], progressAtMs = 0) =>
  ({ state, description: '', sinceMs: 0, progressAtMs, modelCalls: 1, toolCalls: 0 }) satisfies Activity

function watched() {
  const status = createTurnStatus(0, [])
  const see = (atMs: number, body: AgentEventBody) =>
    status.see({ runId: 'r', sessionId: 's', agentPath: ['root'], atMs, ...body } as AgentEvent)
  const word = (nowMs: number, state: Activity['state'] = 'model', progressAtMs = nowMs) =>
    status.lines(activity(state, progressAtMs), nowMs).at(-1)!.split(' · ').at(-1)
  return { status, see, word }
}
const start = (callId: string, toolName: string, summary: string): AgentEventBody => ({
  ...{ type: 'tool-start', callId, toolName, summary, args: {}, icon: '' },
})
const wrote = (...states: readonly string[]): AgentEventBody => ({
  ...{ type: 'tool-end', callId: 't', toolName: 'todo_write', isError: false, content: [], durationMs: 1 },
  data: { todos: states.map((status, index) => ({ id: `${index}`, content: `task ${index}`, status })) },
})

it('says in a word what is true: the server, thoughts, words, a call, a wait', () => {
  const { see, word } = watched()
  expect(word(2_000)).toBe('waiting for the server')
  see(2_000, { type: 'reasoning-delta', messageId: 'm', text: 'Hm.' })
  expect(word(2_100)).toBe('thinking')
  see(2_200, { type: 'message-delta', messageId: 'm', text: 'Yes' })
  expect(word(2_300)).toBe('writing')
  expect(word(14_000, 'model', 2_300)).toBe('waiting for the server')
  see(14_000, { type: 'retry-wait', attempt: 1, delayMs: 8_000, reason: 'overloaded', message: '' } as AgentEventBody)
  expect(word(14_000, 'retrying')).toBe('retrying in 8 s')
  expect(word(15_500, 'retrying')).toBe('retrying in 7 s')
  see(30_000, start('a', 'terminal', 'make'))
  expect(word(42_000, 'tool')).toBe('running terminal 12 s')
  see(42_000, start('b', 'read_file', 'read a'))
  expect(word(42_000, 'tool')).toBe('running 2 calls')
  expect(word(42_000, 'waiting')).toBe('waiting for you')
  expect(word(42_000, 'compacting')).toBe('compacting the conversation')
})

it('lists the calls under way with the newest word of each, as many as there is room for', () => {
  const { status, see } = watched()
  see(0, start('a', 'terminal', 'make'))
  see(0, start('b', 'terminal', 'npm test'))
  see(1, { type: 'tool-progress', callId: 'a', text: 'cc \u001B[1mx.c' })
  expect(status.lines(activity('tool'), 3_000).slice(0, -1)).toEqual([
    ...['  terminal  make · 3 s', '    cc x.c', '  terminal  npm test · 3 s'],
  ])
  for (const id of 'cdefg') see(0, start(id, 'terminal', id))
  expect(status.lines(activity('tool'), 0).slice(-2)[0]).toBe('  … 3 more calls')
})

it('keeps the task list in sight while something is open, and gives it away once', () => {
  const { status, see } = watched()
  see(0, wrote('in_progress', 'pending'))
  expect(status.lines(activity('model'), 0).slice(0, 3)).toEqual(['  tasks · 0 of 2 done', '  ▸ task 0', '  ☐ task 1'])
  expect(status.takeTasks(false)).toBeNull()
  see(0, wrote('completed', 'completed'))
  expect(status.lines(activity('model'), 0)).toHaveLength(1)
  expect(status.takeTasks(false)).toHaveLength(2)
  expect(status.takeTasks(true)).toBeNull()
  see(0, wrote('completed', 'completed'))
  expect(status.takeTasks(true)).toBeNull()
})
