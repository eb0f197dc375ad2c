import { silentLogger, systemClock } from '@hermes/contracts'
import { type Entry, noUsage, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { expect, it } from 'vitest'
import { openContextEngine } from './context-engine.js'

const RECORD = '## Active Task\nread on\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'
const entries: Entry[] = Array.from({ length: 40 }, (_, index) => ({
  ...{ type: 'message', message: userText(`${index} ${'word '.repeat(800)}`) },
  ...{ seq: index + 1, atMs: 0 },
}))
const request = { entries, tokens: 40_000, provider: 'p', model: 'm', cause: 'threshold', carry: [] } as const
const settings = { enabled: true, target_ratio: 0.2, protect_first_n: 3, protect_last_n: 20, model_thresholds: {} }
const input = {
  ...{ settings, own: null, windowOf: async () => 40_000, models: [], scopeOf: () => ({}), summaries: undefined },
  ...{ model: { provider: 'p', model: 'Vendor/Large-2' }, clock: systemClock, logger: silentLogger },
}

/** Answers at once, or never. */
function model(isAnswering: boolean): ModelClient & { readonly limits: (number | undefined)[] } {
  const limits: (number | undefined)[] = []
  return {
    ...{ provider: 'p', model: 'small', limits },
    async *stream({ maxOutputTokens }, { signal }) {
      limits.push(maxOutputTokens)
      if (!isAnswering)
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
      const message = { role: 'assistant', content: [{ type: 'text', text: RECORD }], finishReason: 'stop' } as const
      yield { type: 'finish', message, usage: noUsage, stamp: { provider: 'p', endpoint: 'e', model: 'small' } }
    },
  }
}

it.each([
  [{ max_tokens: 300 }, true, { type: 'compacted', isSummarized: true }, 300],
  [{ timeout: 0.01 }, false, { type: 'compacted', isSummarized: false, problem: 'small took too long' }, 3_000],
])('holds a summariser to %j of config.yaml', async (text, isAnswering, outcome, limit) => {
  const client = model(isAnswering)
  const summaries = { enabled: true, fallback_chain: [], ...text }
  const engine = openContextEngine({ ...input, models: [client], summaries })
  expect(await engine!.compact(request, { signal: new AbortController().signal })).toMatchObject(outcome)
  expect(client.limits).toEqual([limit])
})

it.each([
  [{}, 0.75],
  [{ large: 0.9, small: 0.1 }, 0.9],
  [{ large: 0.9, 'large-2': 0.6 }, 0.6],
  [{ 'p:large': 0.6, 'q:large': 0.9 }, 0.6],
])('is due where %j says so of the model', async (model_thresholds, share) => {
  const engine = openContextEngine({ ...input, settings: { ...settings, model_thresholds } })!
  const isDue = (tokens: number) => engine.isDue({ ...request, tokens })
  expect([await isDue(40_000 * share - 1), await isDue(40_000 * share)]).toEqual([false, true])
})
