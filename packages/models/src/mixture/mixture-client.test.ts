import type { Message } from '@hermes/contracts/conversation'
import { createFakeClock, type ModelServer, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askModel, createModelClient } from '../index.js'
import { createMixtureOfAgentsClient, type MixtureOfAgentsOptions, type ReferenceOutcome } from './mixture-client.js'

let servers: readonly [ModelServer, ModelServer, ModelServer]

beforeEach(async () => {
  servers = [await startModelServer(), await startModelServer(), await startModelServer()]
})
afterEach(() => Promise.all(servers.map((server) => server.close())))

function make(more: Partial<MixtureOfAgentsOptions> = {}) {
  const clients = servers.map(({ baseUrl }, index) =>
    createModelClient({ provider: 'custom', model: `m${index}`, baseUrl, maxRetries: 0, clock: createFakeClock() }),
  )
  const [aggregator, ...references] = clients
  return createMixtureOfAgentsClient({
    provider: 'moa',
    model: 'default',
    aggregator: aggregator!,
    references,
    ...more,
  })
}

const system: Message = { role: 'system', content: [{ type: 'text', text: 'You have tools.' }] }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const called: readonly Message[] = [
  {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'c', name: 'look', args: { at: 'x' }, rawArgs: '{"at":"x"}' }],
  },
  { role: 'tool', callId: 'c', toolName: 'look', content: [{ type: 'text', text: 'Found it.' }] },
]
const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }]
const bodies = (index: number) => servers[index]!.requests.map(({ body }) => body)

describe('createMixtureOfAgentsClient', () => {
  it('asks the references without tools, and the aggregator with what they said', async () => {
    const [first, second, third] = servers
    second.enqueue({ text: 'I say A.' })
    third.enqueue({ text: 'I say B.' })
    first.enqueue({ text: 'It is A.' })
    const { message } = await askModel(
      make(),
      { messages: [system, user('A or B?')], tools },
      { purpose: 'turn', turnId: 't' },
    )
    expect(message.content).toEqual([{ type: 'text', text: 'It is A.' }])
    for (const index of [1, 2]) {
      expect(bodies(index)[0]).not.toHaveProperty('tools')
      expect(JSON.stringify(bodies(index)[0]!.messages)).not.toContain('You have tools.')
    }
    const sent = JSON.stringify(bodies(0)[0]!.messages)
    for (const words of ['You have tools.', 'A or B?', 'I say A.', 'I say B.']) expect(sent).toContain(words)
  })

  it('tells of each reference what it said or why it failed, and goes on without the latter', async () => {
    const [first, second, third] = servers
    second.enqueue({ text: 'I say A.' })
    third.enqueue({ fault: 'status', status: 401 })
    first.enqueue({ text: 'It is A.' })
    const notified: ReferenceOutcome[] = []
    const onReference = (outcome: ReferenceOutcome) => {
      notified.push(outcome)
      throw new Error('An observer hurts nobody.')
    }
    await askModel(make({ onReference }), { messages: [user('A or B?')], tools: [] }, { purpose: 'moa' })
    expect(notified.toSorted((left, right) => left.model.localeCompare(right.model))).toEqual([
      { provider: 'custom', model: 'm1', text: 'I say A.', error: null },
      { provider: 'custom', model: 'm2', text: null, error: expect.stringMatching(/^\S[^\n]*401/) },
    ])
    expect(bodies(0)).toHaveLength(1)
  })

  it('asks them once per turn and keeps the bytes of earlier messages within it', async () => {
    const [first, second, third] = servers
    for (const server of [second, third]) server.setHandler(() => ({ text: 'Advice.' }))
    first.setHandler(() => ({ text: 'ok' }))
    const client = make()
    const start = [system, user('Go.')]
    for (const messages of [start, [...start, ...called]])
      await askModel(client, { messages, tools }, { purpose: 'turn', turnId: 't' })
    expect([second.requests.length, third.requests.length]).toEqual([1, 1])
    const [one, two] = bodies(0)
    expect(two!.messages.slice(0, one!.messages.length)).toEqual(one!.messages)
    await askModel(client, { messages: [...start, ...called, user('More.')], tools }, { purpose: 'turn', turnId: 'u' })
    expect([second.requests.length, third.requests.length]).toEqual([2, 2])
    const requested = JSON.stringify(bodies(1)[1]!.messages)
    expect(requested).toContain('[called look {\\"at\\":\\"x\\"}]')
    expect(requested).toContain('[result of look: Found it.]')
  })

  it('answers without those that fail, and alone when all do', async () => {
    const [first, second, third] = servers
    second.setHandler(() => ({ fault: 'status', status: 401 }))
    third.enqueue({ text: 'I say B.' }, { fault: 'status', status: 500 })
    first.setHandler(() => ({ text: 'ok' }))
    const client = make()
    for (const turnId of ['a', 'b'])
      await askModel(client, { messages: [system, user('Go.')], tools }, { purpose: 'turn', turnId })
    expect(JSON.stringify(bodies(0)[0]!.messages)).toContain('I say B.')
    expect(bodies(0)[1]!.messages).toEqual([
      { role: 'system', content: 'You have tools.' },
      { role: 'user', content: 'Go.' },
    ])
  })

  it('sends auxiliary tasks to the aggregator alone, and stops on abort', async () => {
    const [first, second] = servers
    first.enqueue({ text: 'A title' })
    const client = make()
    await askModel(client, { messages: [user('Name it.')], tools: [] }, { purpose: 'title' })
    expect(second.requests).toHaveLength(0)
    const abort = new AbortController()
    second.setHandler(() => ({ fault: 'stall', text: 'half' }))
    servers[2].setHandler(() => ({ fault: 'stall', text: 'half' }))
    const requested = askModel(client, { messages: [user('Go.')], tools }, { purpose: 'turn', signal: abort.signal })
    await second.waitForRequests(1)
    abort.abort()
    await expect(requested).rejects.toMatchObject({ name: 'AbortError' })
    expect(first.requests).toHaveLength(1)
  })
})
