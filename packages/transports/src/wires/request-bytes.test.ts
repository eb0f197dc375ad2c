import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lendBody } from './request-bytes.js'

/** What is sent of a body, given back at once. */
function sent(body: object, conversation: object): string {
  const { bytes, giveBack } = lendBody(body, conversation)
  giveBack()
  return bytes.toString()
}

/** Halves of surrogate pairs have no UTF-8. */
function asUtf8(text: string): string {
  return Buffer.from(text).toString()
}

describe('the bytes of a request', () => {
  it('are those of JSON.stringify, whatever body of the conversation went before', () => {
    const item = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(undefined), fc.object())
    const key = fc.oneof(fc.constantFrom('messages', 'input', 'tools'), fc.string())
    const body = fc.dictionary(key, fc.oneof(item, fc.array(item), fc.constant(null)))
    fc.assert(
      fc.property(fc.array(body, { maxLength: 4 }), (bodies) => {
        const conversation = {}
        for (const value of [...bodies, ...bodies])
          expect(sent(value, conversation)).toBe(asUtf8(JSON.stringify(value)))
      }),
    )
  })

  it('are right when messages come, go, change, grow and come back, large and small', () => {
    const text = fc.tuple(fc.constantFrom('a', 'é', '"', '\u{1f600}'), fc.integer({ min: 0, max: 40_000 }))
    const step = fc.record({ from: fc.nat(12), texts: fc.array(text, { maxLength: 6 }), tail: fc.string() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const conversation = {}
        let messages: object[] = []
        for (const { from, texts, tail } of steps) {
          const more = texts.map(([letter, count]) => ({ role: 'user', content: letter.repeat(count) }))
          messages = [...messages.slice(0, from), ...more, ...messages.slice(from + 1)]
          const body = { model: 'm', messages, tools: [{ name: tail }], stream: true }
          expect(sent(body, conversation)).toBe(JSON.stringify(body))
        }
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 10) },
    )
  })

  it('stay as they are until they are given back, and then serve for the next request', () => {
    const conversation = {}
    const messages = [{ role: 'user', content: 'é' }]
    const first = lendBody({ model: 'm', messages }, conversation)
    const second = lendBody({ model: 'another', messages: [...messages, ...messages] }, conversation)
    expect(first.bytes.toString()).toBe(JSON.stringify({ model: 'm', messages }))
    second.giveBack()
    const third = lendBody({ model: 'another', messages: [...messages, { role: 'assistant' }] }, conversation)
    expect(third.bytes.buffer).toBe(second.bytes.buffer)
    expect(first.bytes.toString()).toBe(JSON.stringify({ model: 'm', messages }))
  })

  it('leave no room that a conversation became too short for', () => {
    const conversation = {}
    const long = Array.from({ length: 50 }, (_, at) => ({ role: 'user', content: `${at}`.repeat(20_000) }))
    sent({ messages: long }, conversation)
    const { bytes } = lendBody({ messages: long.slice(0, 2) }, conversation)
    expect(bytes.buffer.byteLength).toBeLessThan(bytes.length * 4)
  })
})
