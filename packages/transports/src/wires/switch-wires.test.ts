import type { Message } from '@hermes/contracts/conversation'
import type { ModelFinish, WireApi } from '@hermes/contracts/model'
import { type ModelServer, startModelServer } from '@hermes/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTransport } from '../index.js'

const tools = [{ name: 'read', description: 'Reads.', parameters: { type: 'object', properties: {} } }]
const WIRES = ['chat-completions', 'responses', 'anthropic-messages', 'bedrock-converse'] as const
const MODELS = {
  'chat-completions': 'gpt-4.1',
  responses: 'gpt-5',
  'anthropic-messages': 'claude-opus-5-5',
  'bedrock-converse': 'us.anthropic.claude-opus-5-5-v1:0',
} as const
const PROVIDERS = { 'anthropic-messages': 'anthropic', 'bedrock-converse': 'bedrock' } as const

let server: ModelServer

beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.close())

function transport(api: (typeof WIRES)[number]) {
  const provider = api in PROVIDERS ? PROVIDERS[api as keyof typeof PROVIDERS] : 'openai'
  const baseUrl = provider === 'openai' ? server.baseUrl : server.anthropicBaseUrl
  const quirks = { replayReasoningAs: 'reasoning_content' } as const
  return createTransport({ provider, api, baseUrl, quirks })
}

/** One turn of the user: a call, its result, the answer; every text names the turn. */
async function turn(api: (typeof WIRES)[number], turnNumber: number, messages: Message[]): Promise<void> {
  const made = transport(api)
  const ask = async () => {
    let last: unknown
    for await (const event of made.stream({ model: MODELS[api], messages, tools }, { credential: null })) last = event
    messages.push((last as ModelFinish).message)
  }
  server.enqueue(
    { reasoning: `thought ${turnNumber}a`, text: `words ${turnNumber}`, toolCalls: [{ name: 'read', args: {} }] },
    { reasoning: `thought ${turnNumber}b`, text: `answer ${turnNumber}` },
  )
  messages.push({ role: 'user', content: [{ type: 'text', text: `question ${turnNumber}` }] })
  await ask()
  const [call] = messages.at(-1)!.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
  const content = [{ type: 'text', text: `result ${turnNumber}` }] as const
  messages.push({ role: 'tool', callId: call!, toolName: 'read', content })
  await ask()
}

async function converse(order: readonly (typeof WIRES)[number][]): Promise<void> {
  const messages: Message[] = [{ role: 'system', content: [{ type: 'text', text: 'You are.' }] }]
  const before = server.requests.length
  for (const [index, api] of order.entries()) await turn(api, index, messages)
  expect(server.violations).toEqual([])
  order.forEach((api, index) => {
    const request = server.requests[before + 2 * index + 1]!
    const sent = JSON.stringify(request.body)
    const sealedHere = sent + unsealed(request.body['input'])
    expect(request.api).toBe(api satisfies WireApi)
    for (let earlier = 0; earlier <= index; earlier++) {
      const isOwn = order[earlier] === api
      const texts = ['question', 'words', 'result', ...(earlier < index ? ['answer'] : [])]
      for (const text of texts) expect(sent).toContain(`${text} ${earlier}`)
      for (const part of ['a', ...(earlier < index ? ['b'] : [])])
        expect(sealedHere.includes(`thought ${earlier}${part}`), `thought ${earlier}${part} to ${api}`).toBe(isOwn)
    }
  })
}

/** What the scripted server sealed, readable. */
function unsealed(input: unknown): string {
  const items = Array.isArray(input) ? (input as readonly { readonly encrypted_content?: string }[]) : []
  const texts = items.map(({ encrypted_content = '' }) => encrypted_content.split('.')[1] ?? '')
  return texts.map((text) => Buffer.from(text, 'base64').toString('utf8')).join(' ')
}

it('takes a conversation from wire to wire and back: no text is lost, no thought goes to another endpoint', () =>
  converse([...WIRES, ...WIRES.toReversed()]))

it('does so in any order', async () => {
  const orders = fc.array(fc.constantFrom(...WIRES), { minLength: 2, maxLength: 5 })
  await fc.assert(fc.asyncProperty(orders, converse), { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 5) })
})
