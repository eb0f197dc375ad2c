import { describe, expect, it } from 'vitest'
import { checkPrefix, prefixLines, type WireBody, type WireMessage } from './index.js'

const request = (messages: readonly WireMessage[], tools: readonly unknown[] = [{ name: 't' }]) => ({
  body: { model: 'm', messages, tools },
})
const system = { role: 'system', content: 'You are.' }
const user = { role: 'user', content: 'hi' }

describe('prefixLines', () => {
  it('gives tools, system text and messages a line each, without cache marks', () => {
    const marked = { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }
    expect(prefixLines(request([system, marked]))).toEqual([
      '[{"name":"t"}]',
      '"You are."',
      '{"role":"user","content":[{"type":"text","text":"hi"}]}',
    ])
  })
})

describe('checkPrefix', () => {
  it('holds when messages are added and the last one grows at its end', () => {
    const grown = { role: 'user', content: 'hi\n\nand more' }
    const withImage = { role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'image_url' }] }
    for (const last of [user, grown, withImage])
      expect(checkPrefix(request([system, user]), request([system, last, { role: 'assistant' }]))).toBeNull()
  })

  it('reads the items of Responses, whose outputs may grow too', () => {
    const requested = (...input: readonly object[]) => {
      const body = { model: 'm', instructions: 'You are.', tools: [{ name: 't' }], input }
      return { body: body as unknown as WireBody }
    }
    const result = (output: unknown) => ({ type: 'function_call_output', call_id: 'a', output })
    const before = requested(result('one'))
    expect(prefixLines(before).slice(0, 2)).toEqual(['[{"name":"t"}]', '"You are."'])
    expect(checkPrefix(before, requested(result('one\n\ntwo'), result('next')))).toBeNull()
    expect(checkPrefix(before, requested(result('two')))).toMatch(/^message 0 changed/)
    expect(checkPrefix(before, requested({ ...result('one'), call_id: 'b' }))).toMatch(/^message 0 changed/)
  })

  it('says what changed and where', () => {
    const before = request([system, user, { role: 'assistant', content: 'a' }])
    expect(checkPrefix(before, request([system, user, { role: 'assistant', content: 'b' }]))).toMatch(/^message 1 /)
    expect(checkPrefix(before, request([system, { ...user, content: 'hi there' }]))).toMatch(/^message 0 /)
    expect(checkPrefix(before, request([{ ...system, content: 'You were.' }]))).toMatch(/^the system text changed/)
    expect(checkPrefix(before, request([system], []))).toMatch(/^the tool definitions changed/)
    expect(checkPrefix(before, request([system, user]))).toBe('message 1 is missing in the next request')
  })
})
