import fc from 'fast-check'
import { expect, it } from 'vitest'
import { chatKey, isShared } from './chat-key.js'
import { formatTarget, parseAddress, parseTarget } from './chat-target.js'

const id = fc.string({ unit: 'binary', minLength: 1 })

it('reads back every target it writes', () => {
  fc.assert(
    fc.property(id, fc.option(id, { nil: undefined }), (chatId, threadId) => {
      const target = threadId === undefined ? { chatId } : { chatId, threadId }
      expect(parseTarget(formatTarget(target))).toEqual(target)
    }),
  )
})

it('reads where a person wants something sent', () => {
  expect(parseAddress('telegram')).toEqual({ platform: 'telegram', target: null })
  expect(parseAddress(' telegram:-100123:42')).toEqual({
    platform: 'telegram',
    target: { chatId: '-100123', threadId: '42' },
  })
  expect(parseAddress('email:ada@example.org')).toEqual({ platform: 'email', target: { chatId: 'ada@example.org' } })
  for (const wrong of ['', ':1', 'telegram:', 'telegram:1:', 'telegram:1:2:3', 'Tele gram:1'])
    expect(() => parseAddress(wrong)).toThrow(/PLATFORM:CHAT/)
})

it('keeps a conversation for each person in a group, and one for all in a topic', () => {
  const key = (chat: Parameters<typeof chatKey>[0]['chat'], options = {}) =>
    chatKey({ platform: 'telegram', chat, sender: { id: '7' } }, options)
  expect(key({ id: '7', type: 'dm' })).toBe('agent:main:telegram:dm:7')
  expect(key({ id: '7', type: 'dm', threadId: '3' })).toBe('agent:main:telegram:dm:7:3')
  expect(key({ id: '-1', type: 'group' })).toBe('agent:main:telegram:group:-1:7')
  expect(key({ id: '-1', type: 'group', threadId: '3' })).toBe('agent:main:telegram:thread:-1:3')
  const shared = key({ id: '-1', type: 'group' }, { groupSessionsPerUser: false })
  expect([shared, isShared(shared)]).toEqual(['agent:main:telegram:group:-1', true])
  expect(isShared(key({ id: '-1', type: 'group', threadId: '3' }))).toBe(true)
  for (const chat of [
    { id: '7', type: 'dm' },
    { id: '-1', type: 'group' },
  ] as const)
    expect(isShared(key(chat))).toBe(false)
  expect(key({ id: 'a:b', type: 'dm' })).not.toBe(key({ id: 'a', type: 'dm', threadId: 'b' }))
})
