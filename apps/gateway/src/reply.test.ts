import type { AgentEvent, AgentEventBody } from '@hermes/agent-core'
import { noUsage } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { toEnding } from './completion.js'
import { ReplyReader } from './reply.js'

const event = (body: AgentEventBody): AgentEvent => ({
  runId: 'r',
  sessionId: 's',
  agentPath: ['root'],
  atMs: 0,
  ...body,
})
const delta = (messageId: string, text: string): AgentEventBody => ({ type: 'message-delta', messageId, text })
const end = (messageId: string, text: string, finishReason: 'stop' | 'length' = 'stop'): AgentEventBody => ({
  type: 'message-end',
  messageId,
  message: { role: 'assistant', content: [{ type: 'text', text }], finishReason },
})

function textOf(...bodies: AgentEventBody[]): string {
  const reader = new ReplyReader()
  return bodies
    .flatMap((body) => reader.read(event(body)))
    .map((piece) => (piece.type === 'text' ? piece.text : ''))
    .join('')
}

describe('ReplyReader', () => {
  it('sets replies around tool calls apart', () => {
    expect(textOf(delta('1', 'Look'), delta('1', 'ing.'), end('1', 'Looking.'), delta('2', 'Done.'))).toBe(
      'Looking.\n\nDone.',
    )
  })

  it('tells how remote programs and tasks are, and shows the output of no other tool', () => {
    const reader = new ReplyReader()
    const start = { type: 'tool-start', args: {}, summary: 'python: x', icon: '' } as const
    const step = { type: 'tool-progress', text: '1/2 calls', data: { calls_made: 2 } } as const
    const pieces = ['execute_code', 'terminal'].flatMap((toolName) => [
      ...reader.read(event({ ...start, callId: toolName, toolName })),
      ...reader.read(event({ ...step, callId: toolName })),
    ])
    const shown = { emoji: '', label: 'python: x', status: 'running' } as const
    expect(pieces.map((piece) => (piece.type === 'tool' ? piece.progress : null))).toEqual([
      { ...shown, tool: 'execute_code', toolCallId: 'execute_code' },
      { ...shown, tool: 'execute_code', toolCallId: 'execute_code', detail: '1/2 calls', data: { calls_made: 2 } },
      { ...shown, tool: 'terminal', toolCallId: 'terminal' },
    ])
  })

  it('joins a reply that goes on after its output limit', () => {
    expect(textOf(delta('1', 'a word cut in'), end('1', 'a word cut in', 'length'), delta('2', ' two'))).toBe(
      'a word cut in two',
    )
  })

  it('gives what the model thinks apart from what it says, streamed or whole', () => {
    const reader = new ReplyReader()
    const thinks = (messageId: string, text: string): AgentEventBody => ({ type: 'reasoning-delta', messageId, text })
    const whole: AgentEventBody = {
      type: 'message-end',
      messageId: '2',
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Now I know.' },
          { type: 'text', text: 'Done.' },
        ],
      },
    }
    const pieces = [thinks('1', 'Let me '), thinks('1', 'see.'), delta('1', 'Looking.'), end('1', 'Looking.'), whole]
    expect(pieces.flatMap((body) => reader.read(event(body)))).toEqual([
      { type: 'thought', text: 'Let me ' },
      { type: 'thought', text: 'see.' },
      { type: 'text', text: 'Looking.' },
      { type: 'thought', text: '\n\nNow I know.' },
      { type: 'text', text: '\n\nDone.' },
    ])
    expect(reader.thoughts).toBe('Let me see.\n\nNow I know.')
  })

  it('gives the text of a message that was not streamed', () => {
    expect(textOf(end('1', 'All at once.'))).toBe('All at once.')
  })

  it('says a reply once that is asked again, and says where another one begins', () => {
    const retry = {
      type: 'retry-wait',
      attempt: 1,
      delayMs: 1,
      reason: 'connection',
      message: 'broke',
      discardedMessageId: '1',
    } as const
    expect(textOf(delta('1', 'Onc'), retry, delta('2', 'Once.'))).toBe('Once.')
    const again = { ...retry, discardedMessageId: '2' }
    expect(textOf(delta('1', 'Onc'), retry, delta('2', 'On'), again, delta('3', 'Once.'))).toBe('Once.')
    expect(textOf(delta('1', 'Onc'), retry, delta('2', 'Twice.'))).toBe(
      'Onc\n\n[The reply broke off; asked again, it says:]\n\nTwice.',
    )
  })
})

describe('toEnding', () => {
  const ending = (status: 'completed' | 'stopped' | 'interrupted', code?: string) =>
    toEnding({
      sessionId: 's',
      result: { status, text: 'x', usage: noUsage, ...(code ? { error: { code, message: 'why', details: {} } } : {}) },
      reader: new ReplyReader(),
    })

  it('tells in the words of the API how a run ended', () => {
    expect(ending('completed').finishReason).toBe('stop')
    expect(ending('stopped', 'agent.step_limit').finishReason).toBe('length')
    expect(ending('stopped', 'agent.content_filter').finishReason).toBe('content_filter')
    expect(() => ending('interrupted')).toThrow('the session can go on')
  })
})
