import type { Entry, Message } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { CallIds } from './call-ids.js'
import { toHistory } from './history.js'

const place = { cwd: '/p', userHome: '/home/me' }
const entries = (...messages: readonly Message[]): Entry[] =>
  messages.map((message, index) => ({ type: 'message', message, seq: index + 1, atMs: 0 }))
const call = (id: string, name: string, args: Record<string, string>): Message => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id, name, args, rawArgs: JSON.stringify(args) }],
})
const result = (callId: string, toolName: string, text: string): Message => ({
  role: 'tool',
  callId,
  toolName,
  content: [{ type: 'text', text }],
})

describe('toHistory', () => {
  it('shows what the user and the agent said, and nothing that was only meant for the model', () => {
    const history = toHistory(
      entries(
        {
          role: 'user',
          content: [
            { type: 'text', text: 'remembered', origin: 'memory' },
            { type: 'text', text: 'Hello' },
            { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'Go on.', origin: 'reminder' }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Hi.' },
          ],
        },
      ),
      new CallIds(),
      place,
    )
    expect(history).toEqual([
      { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Hello' }, messageId: 'stored-1' },
      {
        sessionUpdate: 'user_message_chunk',
        content: { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        messageId: 'stored-1',
      },
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' }, messageId: 'stored-3' },
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hi.' }, messageId: 'stored-3' },
    ])
  })

  it('keeps calls with one id apart and ends those that a crash left open', () => {
    const history = toHistory(
      entries(
        call('0', 'read_file', { path: '~/a.txt' }),
        result('0', 'read_file', 'with ``` inside'),
        call('0', 'terminal', { command: 'ls' }),
      ),
      new CallIds(),
      place,
    )
    expect(history).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: '0', kind: 'read', locations: [{ path: '/home/me/a.txt' }] },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: '0',
        status: 'completed',
        content: [{ content: { text: '````\nwith ``` inside\n````' } }],
      },
      { sessionUpdate: 'tool_call', toolCallId: '0#2', kind: 'execute', title: 'terminal ls' },
      { sessionUpdate: 'tool_call_update', toolCallId: '0#2', status: 'failed' },
    ])
  })

  it('shows notes and reminders in tool results to nobody', () => {
    const steered: Message = {
      role: 'tool',
      callId: 'c',
      toolName: 'terminal',
      content: [
        { type: 'text', text: 'from outside', origin: 'external' },
        { type: 'text', text: '[The user added: hurry]', origin: 'steer' },
      ],
    }
    const text = JSON.stringify(toHistory(entries(call('c', 'terminal', {}), steered), new CallIds(), place))
    expect(text).toContain('from outside')
    expect(text).not.toContain('hurry')
  })
})
