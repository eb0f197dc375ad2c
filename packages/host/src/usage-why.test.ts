import { expect, it } from 'vitest'
import { open, stage, type } from './__fixtures__/commands-stage.js'

const PRICED = `
model_overrides: {m: {input_price: 10, output_price: 100}}
`

it('splits what a session cost by purpose, model, task and tool, each to the total of the ledger', async () => {
  const { server, enter } = await stage(() => '{"verdict": "done", "reason": "It is."}', PRICED)
  const home = await enter()
  const { handle, until } = open(home, server.baseUrl)
  expect(await type(home.runtime, handle, '/usage why')).toBe('Nothing has been spent in this session yet.')
  const reader = await handle.subscribe()
  await type(home.runtime, handle, '/goal Count')
  await until('Goal reached')
  await type(home.runtime, handle, '/btw Why?')
  await type(home.runtime, handle, '/background Count apples')
  for await (const { event } of reader) if (event.type === 'background-end') break
  const shown = await type(home.runtime, handle, '/usage why')
  const { usage } = await home.runtime.storage()
  const [total] = await usage.totals({ sessionId: handle.id })
  expect(shown).toContain(`All together: ${total!.calls} calls of models, ${total!.usage.inputTokens} tokens in`)
  const part = (from: string, to: string) => shown.slice(shown.indexOf(from), shown.indexOf(to))
  const purposes = part('By purpose:', 'By model:')
  expect(purposes).toMatch(/the conversation and its tasks/)
  expect(purposes).toMatch(/judging the goal/)
  expect(purposes).toMatch(/\/btw/)
  const tokensIn = (text: string) => [...text.matchAll(/(\d+) in/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  expect(tokensIn(purposes)).toBe(total!.usage.inputTokens)
  expect(tokensIn(part('By model:', 'Of that, tasks:'))).toBe(total!.usage.inputTokens)
  expect(part('Of that, tasks:', '\0')).toMatch(/\d+ in/)
  const { inputTokens, outputTokens } = total!.usage
  const cost = (inputTokens * 10 + outputTokens * 100) / 1_000_000
  const dollarsIn = (text: string) => [...text.matchAll(/\$([\d.]+)/g)].reduce((sum, [, usd]) => sum + Number(usd), 0)
  for (const text of [purposes, part('By model:', 'Of that, tasks:')])
    expect(Math.abs(dollarsIn(text) - cost)).toBeLessThan(cost / 100)
})

it('never shows an unknown price as nothing', async () => {
  const { server, enter } = await stage(() => '')
  const home = await enter()
  const { handle } = open(home, server.baseUrl)
  await handle.send('Count.').result
  const shown = await type(home.runtime, handle, '/usage why')
  expect(shown).toContain('cost unknown')
  expect(shown).not.toContain('$')
})

it('names the requests that kept the cache', async () => {
  const { server, enter } = await stage(() => '', PRICED)
  const home = await enter()
  const { handle } = open(home, server.baseUrl)
  await handle.send('Count.').result
  const { usage } = await home.runtime.storage()
  const [turn] = await usage.totals({ sessionId: handle.id })
  const spent = { ...turn!.usage, inputTokens: 9_000, cacheReadTokens: 8_000, outputTokens: 1, costUsd: 0.0123 }
  const call = { atMs: 1, sessionId: handle.id, purpose: 'cache', provider: 'custom', model: 'm', durationMs: 1 }
  await usage.record([{ ...call, usage: spent, priceSource: 'config.yaml' }])
  const shown = await type(home.runtime, handle, '/usage why')
  expect(shown).toMatch(/keeping the cache\W+1\W+9000 in\W+89 % cached\W+1 out\W+0\.0123/)
})
