// Every fault an endpoint can have, on every wire, with one key, with three and with a model to fall back on: each call ends in one
// answer or in one line that says what to do, and no message of the conversation gets lost on the way.
import { HermesError } from '@hermes/contracts'
import { messageText } from '@hermes/contracts/conversation'
import {
  type AlertServer,
  createFakeClock,
  FAULT_SETUPS,
  type FaultSetup,
  MODEL_FAULTS,
  type ModelServer,
  startAlertServer,
  startModelServer,
  trustLoopback,
} from '@hermes/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drive, type Outcome } from './__fixtures__/drive.js'
import { keyRing } from './__fixtures__/key-ring.js'
import { createModelClient, type ModelClientOptions } from './index.js'

type Wire = (server: ModelServer) => Pick<ModelClientOptions, 'provider' | 'baseUrl' | 'api'>

/** A further wire joins by a line here. */
const WIRES: Readonly<Record<string, Wire>> = {
  'chat-completions': ({ baseUrl }) => ({ provider: 'custom', baseUrl }),
  'anthropic-messages': ({ anthropicBaseUrl }) => ({ provider: 'anthropic', baseUrl: anthropicBaseUrl }),
  responses: ({ baseUrl }) => ({ provider: 'openai', baseUrl, api: 'responses' }),
  'bedrock-converse': ({ anthropicBaseUrl }) => ({ provider: 'bedrock', baseUrl: anthropicBaseUrl }),
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const stamp = { provider: 'elsewhere', endpoint: 'https://elsewhere.example', model: 'other' }

const request = {
  temperature: 0.5,
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Words of the system.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Words of the user.' },
        { type: 'image', mediaType: 'image/png', data: PIXEL },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'A thought.', replay: { stamp, data: null } },
        { type: 'text', text: 'Words of the model.' },
        { type: 'tool-call', id: 'c1', name: 'look', args: { path: 'x' }, rawArgs: '{"path":"x"}' },
      ],
    },
    { role: 'tool', callId: 'c1', toolName: 'look', content: [{ type: 'text', text: 'Words of the tool.' }] },
  ],
  tools: [
    {
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object', properties: { path: { type: 'string', pattern: '^x$' } } },
    },
  ],
} as const satisfies Parameters<ReturnType<typeof createModelClient>['stream']>[0]

const WORDS = ['Words of the system.', 'Words of the user.', 'Words of the model.', 'Words of the tool.']
const WHOLE = 'The whole answer.'
const SAYS_WHAT_TO_DO = /\b(?:check|use|try|wait|start|send|choose|top up|change)\b/i

let server: ModelServer
let other: ModelServer

beforeEach(async () => {
  ;[server, other] = await Promise.all([startModelServer(), startModelServer()])
  for (const one of [server, other]) one.setHandler(() => ({ text: WHOLE }))
})
afterEach(() => Promise.all([server.close(), other.close()]))

async function ask(wire: Wire, setup: FaultSetup, stalls = false): Promise<Outcome> {
  const clock = createFakeClock()
  const keys = setup === 'three keys' ? { credentials: keyRing(3, clock) } : { apiKey: 'secret-1' }
  const fallbacks = setup === 'a fallback' ? [{ ...wire(other), model: 'other', apiKey: 'secret-other' }] : []
  const client = createModelClient({ ...wire(server), model: 'm', ...keys, fallbacks, clock, random: () => 0 })
  return drive(client.stream(request, { purpose: 'turn', turnId: 't' }), clock, stalls)
}

function check(outcome: Outcome, survives: boolean): void {
  const { finish, error, waits } = outcome
  expect(server.violations).toEqual([])
  expect(other.violations).toEqual([])
  for (const { body } of [...server.requests, ...other.requests])
    for (const words of WORDS) expect(JSON.stringify(body)).toContain(words)
  for (const wait of waits) expect(wait.delayMs).toBeLessThanOrEqual(60_000)
  expect(deltasSinceDiscard(outcome)).toBe(finish ? messageText(finish.message) : deltasSinceDiscard(outcome))
  if (survives) {
    expect(error).toBeNull()
    expect(messageText(finish!.message)).toBe(WHOLE)
    expect(outcome.events.filter(({ type }) => type === 'finish')).toHaveLength(1)
    return
  }
  expect(finish).toBeNull()
  expect(HermesError.isInstance(error)).toBe(true)
  const { message } = error as HermesError
  expect(message).toMatch(SAYS_WHAT_TO_DO)
  expect(message).not.toContain('\n')
  expect(message).not.toContain('secret-')
}

function deltasSinceDiscard({ events }: Outcome): string {
  let text = ''
  for (const event of events) {
    if (event.type === 'text-delta') text += event.text
    if (event.type === 'retry-wait' && event.discard) text = ''
  }
  return text
}

describe.each(Object.entries(WIRES))('on %s', (_api, wire) => {
  describe.each(FAULT_SETUPS)('with %s', (setup) => {
    it.each(Object.entries(MODEL_FAULTS))('%s once ends in an answer or a clear stop', async (name, { step, once }) => {
      server.enqueue(step)
      check(await ask(wire, setup, name === 'a stall'), once.includes(setup))
    })

    it.each(Object.entries(MODEL_FAULTS))('%s for ever ends in an answer or a clear stop', async (name, fault) => {
      server.setHandler(() => fault.step)
      check(await ask(wire, setup, name === 'a stall'), fault.always.includes(setup))
    })
  })

  it.each(['one key', 'three keys'] as const)('leaves an empty reply to the caller with %s', async (setup) => {
    server.enqueue({ text: '' })
    const { finish, waits } = await ask(wire, setup)
    expect(waits).toEqual([])
    expect(messageText(finish!.message)).toBe('')
  })

  it('asks once more after an empty reply, then somebody else', async () => {
    server.setHandler(() => ({ text: '' }))
    const outcome = await ask(wire, 'a fallback')
    check(outcome, true)
    expect(server.requests).toHaveLength(2)
    expect(outcome.waits.map(({ reason }) => reason)).toEqual(['malformed-response', 'malformed-response'])
  })
})

// What an endpoint survives alone it survives here; for the rest nobody is left, and that is said. Who is asked next is the same on every wire.
describe('at an endpoint and its fallback', () => {
  it.each(Object.entries(MODEL_FAULTS))('%s for ever ends in an answer or a clear stop', async (name, fault) => {
    for (const one of [server, other]) one.setHandler(() => fault.step)
    const outcome = await ask(WIRES['chat-completions']!, 'a fallback', name === 'a stall')
    check(outcome, fault.always.includes('one key'))
    expect(outcome.waits.length).toBeLessThanOrEqual(20)
  })
})

// Alerts in an open connection are met in the fault matrix of the runtime, with the fetch that it brings.
describe('a TLS alert in place of the handshake', () => {
  let alerting: AlertServer
  let distrust: () => void
  beforeAll(() => {
    distrust = trustLoopback()
  })
  afterAll(() => distrust())
  beforeEach(async () => {
    alerting = await startAlertServer(Number(new URL(server.baseUrl).port))
  })
  afterEach(() => alerting.close())

  const cells = Object.entries(WIRES).flatMap(([api, wire]) => FAULT_SETUPS.map((setup) => [api, setup, wire] as const))
  const throughTls =
    (wire: Wire): Wire =>
    (one) => {
      const there = wire(one)
      return one === other ? there : { ...there, baseUrl: there.baseUrl!.replace(/^http:..[^/]+/, alerting.origin) }
    }

  it.each(cells)('once on %s ends in an answer with %s', async (_api, setup, wire) => {
    alerting.refuse(1)
    const outcome = await ask(throughTls(wire), setup)
    check(outcome, true)
    expect(outcome.waits).toMatchObject([{ reason: 'timeout' }])
    expect(alerting.alerts).toBe(1)
  })

  it.each(cells)('for ever on %s ends in an answer or a clear stop with %s', async (_api, setup, wire) => {
    alerting.refuse(Number.POSITIVE_INFINITY)
    const outcome = await ask(throughTls(wire), setup)
    check(outcome, setup === 'a fallback')
    expect(outcome.waits[0]).toMatchObject({ reason: 'timeout' })
  })
})
