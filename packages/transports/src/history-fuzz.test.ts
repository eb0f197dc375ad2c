import { checkConversation, type Message, project, repairConversation } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { checkConverseRequest, checkMessagesRequest, checkResponsesRequest, type WireBody } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkChatMessages } from './__fixtures__/chat-rules.js'
import { histories } from './__fixtures__/histories.js'
import { findProvider } from './index.js'
import { toWireRequest as toMessages } from './wires/anthropic-messages/wire-request.js'
import { toWireRequest as toConverse } from './wires/bedrock-converse/wire-request.js'
import { toWireRequest as toChat } from './wires/chat-completions/wire-request.js'
import { toWireRequest as toResponses } from './wires/responses/wire-request.js'

const numRuns = Number(process.env['HERMES_TEST_HISTORIES'] ?? process.env['HERMES_TEST_RUNS'] ?? 150)
const seed = Number(process.env['HERMES_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const settings = { numRuns, seed }

const tools = [{ name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: {} } }]
const request = (messages: readonly Message[], model = 'm'): ModelRequest => ({ model, messages, tools })
const stamp = (provider: string, model = 'm') => ({ provider, endpoint: 'https://here.example', model })
/** A last word of the user, without which there is nothing to ask. */
const requested = (messages: readonly Message[]): readonly Message[] =>
  repairConversation(messages).some(({ role }) => role !== 'system')
    ? messages
    : [...messages, { role: 'user', content: [{ type: 'text', text: 'hi' }] }]

const CHAT = ['openai', 'openrouter', 'mistral', 'kimi-coding', 'gemini', 'qwen-oauth', 'ollama', 'custom']

/** What each wire's server would refuse, by the rules of its protocol. */
const WIRES: readonly (readonly [string, (messages: readonly Message[]) => readonly string[]])[] = [
  ...CHAT.map((provider) => {
    const { quirks } = findProvider(provider)!
    const model = provider === 'openrouter' ? 'anthropic/claude-sonnet-5' : 'm'
    const check = (messages: readonly Message[]) => {
      const { messages: sent } = toChat(request(messages, model), { quirks, stamp: stamp(provider), streaming: true })
      return checkChatMessages(sent, quirks)
    }
    return [`chat completions as ${provider}`, check] as const
  }),
  [
    'anthropic messages',
    (messages) => {
      const body = toMessages(request(messages), { stamp: stamp('anthropic'), streaming: true, cacheTtl: '1h' })
      return checkMessagesRequest(body as unknown as WireBody, { 'anthropic-version': '1' }, () => 's')
    },
  ],
  [
    'responses',
    (messages) => {
      const body = toResponses(request(messages), {
        quirks: {},
        stamp: stamp('openai'),
        streaming: true,
        summaries: true,
      })
      return checkResponsesRequest(body as unknown as WireBody, () => true)
    },
  ],
  [
    'bedrock converse',
    (messages) => {
      const input = toConverse(request(messages), { stamp: stamp('bedrock'), cacheTtl: '5m', uncached: false })
      return checkConverseRequest({ ...input, model: 'm' } as unknown as WireBody, () => 's')
    },
  ],
]

describe(`${numRuns} random histories (seed ${seed})`, () => {
  it.each(WIRES)('make valid requests on the wire %s', (_name, check) => {
    fc.assert(
      fc.property(histories, (entries) => {
        expect(check(requested(project(entries)))).toEqual([])
      }),
      settings,
    )
  })

  it('are repaired once and for all, and nothing stored is touched', () => {
    fc.assert(
      fc.property(histories, (entries) => {
        const messages = project(entries)
        const before = JSON.stringify(messages)
        const once = repairConversation(messages)
        expect(checkConversation(once)).toEqual([])
        expect(repairConversation(once)).toEqual(once)
        expect(JSON.stringify(messages)).toBe(before)
      }),
      settings,
    )
  })

  it('keep the requests that went before them as their beginning', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (entries, at) => {
        const messages = project(entries)
        const cut = at % (messages.length + 1)
        // A request goes out when the user or a tool has spoken, so a result that comes later belongs to no request.
        fc.pre(messages[cut]?.role !== 'tool')
        const [shorter, longer] = [repairConversation(messages.slice(0, cut)), repairConversation(messages)]
        const last = shorter.length - 1
        expect(longer.slice(0, Math.max(0, last))).toEqual(shorter.slice(0, Math.max(0, last)))
        const [before, after] = [shorter[last], longer[last]]
        if (before) expect(after?.content.slice(0, before.content.length)).toEqual(before.content)
      }),
      settings,
    )
  })
})
