import type { Entry } from '@hermes/contracts/conversation'
import { expect, it } from 'vitest'
import { toolTotals } from './insights.js'

const usage = (costUsd: number | 'unknown') => ({
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd,
})
const ask = (atMs: number, calls: readonly string[], costUsd: number | 'unknown' = 0.2): Entry => ({
  type: 'message',
  seq: atMs,
  atMs,
  usage: usage(costUsd),
  message: {
    role: 'assistant',
    content: calls.map((call) => ({ type: 'tool-call', id: call, name: call.split('-')[0]!, args: {}, rawArgs: '{}' })),
  },
})
const answer = (atMs: number, call: string, isError = false): Entry => ({
  type: 'message',
  seq: atMs,
  atMs,
  message: { role: 'tool', callId: call, toolName: call.split('-')[0]!, content: [], isError },
})

it('adds up calls, failures, time from the start of each call, and an equal part of what the answer cost', () => {
  const totals = toolTotals(
    [
      ask(1000, ['read-1', 'read-2']),
      { type: 'call-start', seq: 1, atMs: 4000, callId: 'read-2', toolName: 'read' },
      answer(1500, 'read-1'),
      answer(5000, 'read-2', true),
      ask(6000, ['write-1'], 'unknown'),
      answer(7000, 'write-1'),
    ],
    0,
  )
  expect(Object.fromEntries(totals)).toEqual({
    read: { calls: 2, failures: 1, durationMs: 1500, costUsd: 0.2 },
    write: { calls: 1, failures: 0, durationMs: 1000, costUsd: 'unknown' },
  })
})

it('counts a call without a result as failed, and nothing from before', () => {
  const entries = [ask(1000, ['old-1']), answer(1100, 'old-1'), ask(9000, ['lost-1'])]
  expect(Object.fromEntries(toolTotals(entries, 5000))).toEqual({
    lost: { calls: 1, failures: 1, durationMs: 0, costUsd: 0.2 },
  })
})
