import { expect, it } from 'vitest'
import { prefixStability } from '../../bench/prefix.mjs'

const system = { role: 'system', content: 'You are.' }
const user = { role: 'user', content: 'Hi' }
const reply = { role: 'assistant', content: 'Hello' }
const request = (messages: unknown[], tools: unknown[] = [{ name: 'a' }]) => JSON.stringify({ tools, messages })

it('keeps the prefix when messages are only added', () => {
  expect(
    prefixStability([request([system, user]), request([system, user, reply]), request([system, user, reply, user])]),
  ).toEqual({
    pairs: 2,
    kept: 2,
    broken: [],
  })
})

it('ignores cache marks', () => {
  const marked = { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }
  const plain = { role: 'user', content: [{ type: 'text', text: 'Hi' }] }
  expect(prefixStability([request([system, marked]), request([system, plain, reply])]).kept).toBe(1)
})

it('lets only the last message gain parts, at its end', () => {
  const text = (...texts: string[]) => ({ role: 'user', content: texts.map((item) => ({ type: 'text', text: item })) })
  expect(prefixStability([request([system, user]), request([system, text('Hi', 'more'), reply])]).kept).toBe(1)
  expect(prefixStability([request([system, text('a', 'b')]), request([system, text('b', 'a')])]).kept).toBe(0)
  expect(prefixStability([request([system, user, reply]), request([system, text('Hi', 'more'), reply])]).kept).toBe(0)
})

it.each([
  ['the tools', request([system, user], [{ name: 'b' }]), 0],
  ['the system text', request([{ ...system, content: 'You were.' }, user, reply]), 1],
  ['an old message', request([system, { ...user, content: 'Ho' }, reply]), 2],
  ['the number of messages', request([system]), 2],
])('names the line when %s changed', (_title, next, line) => {
  expect(prefixStability([request([system, user]), next]).broken).toEqual([{ request: 1, line }])
})
