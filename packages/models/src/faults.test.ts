// Every fault an endpoint can have, on every wire, with one key, with three and with a model to fall back on: each call ends in one
// answer or in one line that says what to do, and no message of the conversation gets lost on the way.
import { createServer, type Server } from 'node:net'
import { HermesError } from '@hermes/contracts'
import { messageText } from '@hermes/contracts/conversation'
import { createFakeClock, type FaultTurn, type ModelServer, type ModelTurn, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drive, type Outcome, STALLS_HERE } from './__fixtures__/drive.js'
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

const SETUPS = ['one key', 'three keys', 'a fallback'] as const
type Setup = (typeof SETUPS)[number]

interface Fault {
  readonly turn: ModelTurn
  /** Where one occurrence is survived. */
  readonly once: readonly Setup[]
  /** Where it is survived although it never ends. */
  readonly always: readonly Setup[]
}

const EVERYWHERE: readonly Setup[] = SETUPS
const status = (code: number, message: string, more: Partial<FaultTurn & { fault: 'status' }> = {}): ModelTurn => {
  const body = { type: 'error', error: { type: 'scripted', message } }
  return { fault: 'status', status: code, body, ...more }
}
const passing = (turn: ModelTurn): Fault => ({ turn, once: EVERYWHERE, always: ['a fallback'] })
const ofKey = (turn: ModelTurn): Fault => ({ turn, once: ['three keys', 'a fallback'], always: ['a fallback'] })
const ofModel = (turn: ModelTurn): Fault => ({ turn, once: ['a fallback'], always: ['a fallback'] })
const final = (turn: ModelTurn): Fault => ({ turn, once: [], always: [] })

const FAULTS: Readonly<Record<string, Fault>> = {
  '429 with a reset': passing({ fault: 'status', status: 429, retryAfterSeconds: 7 }),
  '429 without a reset': passing({ fault: 'status', status: 429 }),
  401: ofKey(status(401, 'Invalid API key.')),
  '402 for good': ofKey(status(402, 'Insufficient credits.')),
  '402 for a while': passing(status(402, 'Usage limit reached, try again in 5 minutes.', { retryAfterSeconds: 5 })),
  403: ofKey(status(403, 'This key may not use this model.')),
  404: ofModel(status(404, 'The model does not exist.')),
  413: final(status(413, 'Request too large.')),
  500: passing({ fault: 'status', status: 500 }),
  502: passing({ fault: 'html', status: 502 }),
  503: passing({ fault: 'status', status: 503 }),
  529: passing({ fault: 'status', status: 529 }),
  'a reset before the first byte': passing({ fault: 'refuse' }),
  'a reset in the answer': passing({ fault: 'cut', text: STALLS_HERE, afterChunks: 1 }),
  'a reset after the first token': passing({ fault: 'cut', text: STALLS_HERE, afterChunks: 2 }),
  'an end in the middle': passing({ fault: 'cut', text: STALLS_HERE, how: 'end' }),
  'a stall': passing({ fault: 'stall', text: STALLS_HERE, afterChunks: 2 }),
  'truncated JSON': passing({ fault: 'malformed', text: STALLS_HERE, afterChunks: 2 }),
  'an overload in the answer': passing({
    fault: 'error-event',
    type: 'overloaded_error',
    message: 'Overloaded',
    text: STALLS_HERE,
  }),
  'a wrong content type': ofModel({ fault: 'html' }),
  'an image too large': passing(status(400, 'image exceeds 5 MB maximum')),
  'a thinking signature': passing(status(400, 'messages.1: Invalid `signature` in `thinking` block')),
  'a grammar that is too hard': passing(status(400, 'failed to parse grammar')),
  'an unsupported parameter': passing(status(400, 'Unsupported parameter: temperature')),
  'a policy block': ofModel(status(403, 'Your request was flagged by our content policy.')),
  'a data policy': final(status(404, 'No endpoints found matching your data policy.')),
}

/** After an image repair that did not help, nothing is left, and another model gets the same image. */
const IMAGE = 'an image too large'

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

async function ask(wire: Wire, setup: Setup, stalls = false): Promise<Outcome> {
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
  describe.each(SETUPS)('with %s', (setup) => {
    it.each(Object.entries(FAULTS))('%s once ends in an answer or a clear stop', async (name, { turn, once }) => {
      server.enqueue(turn)
      check(await ask(wire, setup, name === 'a stall'), once.includes(setup))
    })

    it.each(Object.entries(FAULTS))('%s for ever ends in an answer or a clear stop', async (name, fault) => {
      server.setHandler(() => fault.turn)
      const survives = fault.always.includes(setup) && name !== IMAGE
      check(await ask(wire, setup, name === 'a stall'), survives)
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

describe('a TLS alert', () => {
  /** Answers every handshake with the alert "handshake failure". */
  const ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])
  let refusing: Server
  beforeEach(async () => {
    refusing = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(ALERT))
    })
    await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening))
  })
  afterEach(() => new Promise((closed) => refusing.close(closed)))

  const cells = Object.entries(WIRES).flatMap(([api, wire]) => SETUPS.map((setup) => [api, setup, wire] as const))

  it.each(cells)('on %s ends in an answer or a clear stop with %s', async (_api, setup, wire) => {
    const { port } = refusing.address() as { port: number }
    const behindAlert: Wire = (one) => {
      const there = wire(one)
      return one === other
        ? there
        : { ...there, baseUrl: there.baseUrl!.replace(/^http:..[^/]+/, `https://127.0.0.1:${port}`) }
    }
    const outcome = await ask(behindAlert, setup)
    check(outcome, setup === 'a fallback')
    expect(outcome.waits[0]).toMatchObject({ reason: 'timeout' })
  })
})
