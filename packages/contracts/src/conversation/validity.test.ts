import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkConversation, type Message, repairConversation } from '../conversation.js'

const text = fc.oneof(fc.constant(''), fc.constant('  '), fc.string(), fc.constant('half \ud83d'))
const id = fc.constantFrom('a', 'b', 'c')
const call = fc.record({
  type: fc.constant('tool-call' as const),
  id,
  name: fc.constant('t'),
  args: fc.constantFrom(null, { x: 1 }),
  rawArgs: fc.constant('{"x":1}'),
})
const textPart = fc.record({ type: fc.constant('text' as const), text })
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: fc.array(textPart, { maxLength: 2 }) }),
  fc.record({ role: fc.constant('user' as const), content: fc.array(textPart, { maxLength: 2 }) }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.array(fc.oneof(textPart, call), { maxLength: 3 }) }),
  fc.record({
    role: fc.constant('tool' as const),
    callId: id,
    toolName: fc.constant('t'),
    content: fc.array(textPart, { maxLength: 1 }),
  }),
)
const conversation = fc.array(message, { maxLength: 12 })
const rules = fc.record(
  { startWithUser: fc.boolean(), endWithUser: fc.boolean(), assistantAfterResults: fc.boolean() },
  { requiredKeys: [] },
)

describe('repairConversation', () => {
  it('leaves nothing for checkConversation to find', () => {
    fc.assert(
      fc.property(conversation, rules, (messages, wanted) => {
        expect(checkConversation(repairConversation(messages, wanted))).toEqual([])
      }),
    )
  })

  it('is idempotent and does not touch its input', () => {
    fc.assert(
      fc.property(conversation, rules, (messages, wanted) => {
        const before = structuredClone(messages)
        const once = repairConversation(messages, wanted)
        expect(repairConversation(once, wanted)).toEqual(once)
        expect(messages).toEqual(before)
      }),
    )
  })

  it('is monotone: a longer log keeps the shorter one, whose last message may gain parts', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, at) => {
        const cut = at % (messages.length + 1)
        fc.pre(messages[cut]?.role !== 'tool')
        const shorter = repairConversation(messages.slice(0, cut))
        const longer = repairConversation(messages)
        const last = shorter.length - 1
        expect(longer.slice(0, Math.max(last, 0))).toEqual(shorter.slice(0, Math.max(last, 0)))
        const grown = longer[last]
        if (shorter[last]) expect(grown?.content.slice(0, shorter[last].content.length)).toEqual(shorter[last].content)
      }),
    )
  })

  it('keeps to the rules of a provider', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const all = { startWithUser: true, endWithUser: true, assistantAfterResults: true }
        const roles = repairConversation(messages, all).map(({ role }) => role)
        const entry = roles.filter((role) => role !== 'system')
        if (entry.length > 0) expect(entry[0]).toBe('user')
        expect(entry.at(-1)).not.toBe('assistant')
        entry.forEach((role, index) => {
          if (role === 'user') expect(entry[index - 1]).not.toBe('tool')
        })
      }),
    )
  })

  it('gives a call whose id was used before another one, and its result the same', () => {
    const ask = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'call_0', name: 't', args: {}, rawArgs: '{}' }],
    } as const
    const answer = { role: 'tool', callId: 'call_0', toolName: 't', content: [{ type: 'text', text: 'ok' }] } as const
    const repaired = repairConversation([ask, answer, ask, answer])
    expect(repaired[0]).toBe(ask)
    expect(repaired[2]).toMatchObject({ content: [{ id: 'call_0_2' }] })
    expect(repaired[3]).toMatchObject({ callId: 'call_0_2', content: answer.content })
  })

  it('answers a call that was interrupted and drops a late result', () => {
    const assistant = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'a', name: 't', args: {}, rawArgs: '{}' }],
    } as const
    const user = { role: 'user', content: [{ type: 'text', text: 'go on' }] } as const
    const late = { role: 'tool', callId: 'a', toolName: 't', content: [{ type: 'text', text: 'late' }] } as const
    const repaired = repairConversation([assistant, user, late])
    expect(repaired.map((item) => item.role)).toEqual(['assistant', 'tool', 'user'])
    expect(repaired[1]).toMatchObject({ isError: true, callId: 'a' })
  })
})

describe('checkConversation', () => {
  it('names what is wrong and where', () => {
    const found = checkConversation([
      { role: 'user', content: [] },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'tool', callId: 'x', toolName: 't', content: [] },
    ])
    expect(found.map(({ rule, index }) => [rule, index])).toEqual([
      ['empty-message', 0],
      ['adjacent-users', 1],
      ['orphan-result', 2],
    ])
  })
})
