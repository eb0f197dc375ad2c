import { describe, expect, it } from 'vitest'
import { type Message, messageText } from './message.js'

const parts = [
  { type: 'text', text: 'own ' },
  { type: 'text', text: 'outside ', origin: 'external' },
  { type: 'text', text: 'reminder ', origin: 'reminder' },
  { type: 'text', text: 'said', origin: 'user' },
] as const

describe('messageText', () => {
  it('is what a person wrote, without what came along', () => {
    expect(messageText({ role: 'user', content: parts })).toBe('own said')
  })

  it('is what a tool brought, also from outside, without reminders', () => {
    const result: Message = { role: 'tool', callId: 'c', toolName: 'terminal', content: parts }
    expect(messageText(result)).toBe('own outside said')
  })
})
