// A task of tool calls in a real store, with keys in a real auth.json, whose endpoint fails in every way there is: each ends in its
// answer or in one line that says what to do, each step is done once, no message is lost, and what stopped goes on where it was.
// With HERMES_TEST_RUNS every fault meets every wire, setup and moment; without, every fault meets two of the five setups, and each setup two faults of five.
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAgent } from '@hermes/agent-core'
import { createContextCompressor } from '@hermes/compression'
import { type Clock, isJsonObject } from '@hermes/contracts'
import type { Message } from '@hermes/contracts/conversation'
import type { WireApi } from '@hermes/contracts/model'
import { defineTool } from '@hermes/contracts/tool'
import { openCredentialPool } from '@hermes/credential-pool'
import type { ModelClientOptions } from '@hermes/models'
import { createOriginFetch } from '@hermes/safety'
import { openStorage, type Storage } from '@hermes/storage'
import {
  type AlertServer,
  FAULT_SETUPS,
  HALF_TEXT,
  MODEL_FAULTS,
  type ModelFault,
  type ModelServer,
  type ModelStep,
  type StepHandler,
  startAlertServer,
  startModelServer,
  temporaryHome,
  trustLoopback,
} from '@hermes/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const isFull = process.env['HERMES_TEST_RUNS'] !== undefined
const STEPS = 3
const WHOLE = 'All steps are done.'
/** Model time runs so much faster, so that no wait is waited for. */
const SPEED = 300

const WIRES: Readonly<Record<WireApi, { readonly provider: string; readonly isBare?: true }>> = {
  'chat-completions': { provider: 'custom' },
  'anthropic-messages': { provider: 'anthropic', isBare: true },
  responses: { provider: 'openai' },
  'bedrock-converse': { provider: 'bedrock', isBare: true },
}
/** A result of a tool, as the wires write it. */
const RESULT = /"role":"tool"|"type":"tool_result"|"type":"function_call_output"|"toolResult":/g

/** When an endpoint fails: in which step, and whether for ever. */
const MOMENTS = {
  'at the first call': { step: 0, isLasting: false },
  'after a result': { step: 1, isLasting: false },
  'after a result, for ever': { step: 1, isLasting: true },
} as const

interface MatrixFault extends ModelFault {
  /** The connection ends with a TLS alert: when the request is there, or when {@link HALF_SAID} was said. */
  readonly alert?: 'request' | 'answer'
}

const TLS: MatrixFault = {
  alert: 'answer',
  step: { fault: 'stall', text: HALF_TEXT, afterChunks: 2 },
  once: FAULT_SETUPS,
  always: ['a fallback'],
}
const FAULTS: Readonly<Record<string, MatrixFault>> = {
  ...MODEL_FAULTS,
  'a TLS alert after the request': { ...TLS, alert: 'request' },
  'a TLS alert in the answer': TLS,
}

const clock: Clock = {
  now: () => Date.UTC(2026, 0, 1) + performance.now() * SPEED,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const aborted = () => {
        clearTimeout(timer)
        reject(new DOMException('The wait was aborted.', 'AbortError'))
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      }, ms / SPEED)
      if (signal?.aborted) aborted()
      else signal?.addEventListener('abort', aborted, { once: true })
    }),
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const stamp = { provider: 'elsewhere', endpoint: 'https://elsewhere.example', model: 'other' }
const INPUT = {
  history: [
    { role: 'user', content: [{ type: 'text', text: 'Earlier words.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'A thought.', replay: { stamp, data: null } },
        { type: 'text', text: 'Earlier answer.' },
      ],
      finishReason: 'stop',
    },
  ],
  content: [
    { type: 'text', text: 'Take every step.' },
    { type: 'image', mediaType: 'image/png', data: PIXEL },
  ],
} as const
/** As much as a small window does not take. */
const LONG_INPUT = {
  ...INPUT,
  history: [
    ...INPUT.history,
    ...Array.from({ length: 30 }, (_, at) => [
      { role: 'user', content: [{ type: 'text', text: `Say more of ${at}. ${'And so on. '.repeat(60)}` }] } as const,
      {
        role: 'assistant',
        content: [{ type: 'text', text: `More of ${at}: ${'and so forth. '.repeat(60)}` }],
        finishReason: 'stop',
      } as const,
    ]).flat(),
  ],
} as const
const SMALL_WINDOW = 10_000
const CHARS_PER_TOKEN = 4
const SAYS_WHAT_TO_DO = /\b(?:check|use|try|wait|start|send|choose|top up|change)\b/i

/**
 * Where the fallback is faulty it breaks off too before it answers. A small window has no room for what was said before: the agent knows it
 * in every other row, and learns it from a refusal in the others.
 */
const SETUPS = [...FAULT_SETUPS, 'a faulty fallback', 'a small window'] as const
/** Refusals of too much at once, which a shorter conversation gets over. */
const OF_SIZE: readonly string[] = ['413', 'a tier for long contexts']

interface Cell {
  readonly name: string
  readonly row: number
  readonly fault: MatrixFault
  readonly api: WireApi
  readonly setup: (typeof SETUPS)[number]
  readonly moment: (typeof MOMENTS)[keyof typeof MOMENTS]
}

const cells = Object.entries(FAULTS).flatMap(([name, fault], row) =>
  SETUPS.flatMap((setup, column) =>
    (Object.keys(WIRES) as WireApi[]).flatMap((api, wire) =>
      Object.entries(MOMENTS).flatMap(([when, moment], time) => {
        const isDue = (row + column) % SETUPS.length < 2
        const isPicked = isDue && wire === (row + column) % 4 && time === (row + 2 * column) % 3
        return isFull || isPicked ? [[name, when, api, setup, { name, row, fault, api, setup, moment }] as const] : []
      }),
    ),
  ),
)

let server: ModelServer
let other: ModelServer
let alerting: AlertServer
let distrust: () => void
beforeAll(() => {
  distrust = trustLoopback()
})
afterAll(() => distrust())
beforeEach(async () => {
  ;[server, other] = await Promise.all([startModelServer(), startModelServer()])
  alerting = await startAlertServer(Number(new URL(server.baseUrl).port))
})
afterEach(() => Promise.all([alerting.close(), server.close(), other.close()]))

/** What an endpoint that stands in does wrong at its first request. */
const FAULTS_OF_FALLBACKS: readonly ModelStep[] = [
  { fault: 'cut', text: HALF_TEXT, afterChunks: 2 },
  { fault: 'status', status: 529 },
  { fault: 'refuse' },
]

function standingIn({ setup, row }: Cell): StepHandler {
  const faults = setup === 'a faulty fallback' ? [FAULTS_OF_FALLBACKS[row % FAULTS_OF_FALLBACKS.length]!] : []
  return ({ body }) => faults.pop() ?? healthy(stepOf(body))
}

/** Takes one step after the other, and fails when it is time to. */
function answering({ fault, moment, setup }: Cell): StepHandler {
  let failed = 0
  return ({ body }) => {
    const step = stepOf(body)
    if (setup === 'a small window' && JSON.stringify(body).length > SMALL_WINDOW * CHARS_PER_TOKEN) return TOO_LONG
    if (step !== moment.step || (failed++ > 0 && !moment.isLasting)) return healthy(step)
    if (fault.alert !== 'request') return breaking(fault.step, step)
    alerting.alertNow()
    return new Promise(() => undefined)
  }
}

const TOO_LONG: ModelStep = {
  fault: 'status',
  status: 400,
  body: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: `prompt is too long: the maximum context length is ${SMALL_WINDOW} tokens`,
    },
  },
}

function stepOf(body: unknown): number {
  return JSON.stringify(body).match(RESULT)?.length ?? 0
}

function healthy(step: number): ModelStep {
  if (step >= STEPS) return { text: WHOLE }
  return { text: 'On it.', toolCalls: [{ name: 'take', args: { step: `step ${step}` } }] }
}

/** After a result, what breaks off is a call and not words. */
function breaking(answer: ModelStep, step: number): ModelStep {
  if (!('fault' in answer) || !('text' in answer) || step === 0) return answer
  return { ...answer, toolCalls: [{ name: 'take', args: { step: 'never to be taken' } }], afterChunks: 4 } as ModelStep
}

function endpoint({ api, fault }: Pick<Cell, 'api' | 'fault'>, one: ModelServer): ModelClientOptions {
  const { provider, isBare } = WIRES[api]
  const plain = isBare ? one.anthropicBaseUrl : one.baseUrl
  const baseUrl = fault.alert && one === server ? plain.replace(/^http:..[^/]+/, alerting.origin) : plain
  return { provider, baseUrl, api, model: one === server ? 'm' : 'other', fetch: createOriginFetch({ baseUrl }) }
}

async function keysIn(home: string, { setup, api }: Cell): Promise<Partial<ModelClientOptions>> {
  if (setup !== 'three keys') return { apiKey: 'secret-1' }
  const { provider } = WIRES[api]
  const entries = [1, 2, 3].map((number) => ({
    id: `key-${number}`,
    label: `key ${number}`,
    auth_type: 'api_key',
    source: 'manual',
    priority: number,
    access_token: `secret-${number}`,
  }))
  const path = join(home, 'auth.json')
  await writeFile(path, JSON.stringify({ version: 1, credential_pool: { [provider]: entries } }), { mode: 0o600 })
  return { credentials: openCredentialPool({ path, provider, clock }) }
}

/** The agent of a task whose steps are lines in a file. */
function agentOf(
  model: ModelClientOptions,
  { storage, steps, cell }: { readonly storage: Storage; readonly steps: string; readonly cell: Cell },
) {
  const isKnown = cell.row % 2 === 0
  const windowOf = () => (isKnown ? SMALL_WINDOW : SMALL_WINDOW * 20)
  const take = defineTool<{ step: string }>({
    name: 'take',
    toolset: 'test',
    description: 'Takes a step.',
    effect: 'write',
    concurrency: 'exclusive',
    parameters: { type: 'object', properties: { step: { type: 'string', pattern: '^(?:step|never)' } } },
    execute: async ({ step }) => {
      await appendFile(steps, `${step}\n`)
      return { data: { taken: step } }
    },
  })
  const made = { ...model, clock, random: () => 0 }
  return createAgent({
    model: made,
    tools: [take],
    steps: { temperature: 0.5 },
    ...(cell.setup === 'a small window' ? { contextEngine: createContextCompressor({ windowOf, models: [] }) } : {}),
    session: { store: storage, id: 'task' },
  })
}

const stepsUpTo = (count: number) => Array.from({ length: count }, (_, step) => `step ${step}\n`).join('')
const readSteps = (path: string) => readFile(path, 'utf8').catch(() => '')

async function messagesIn(storage: Storage): Promise<readonly Message[]> {
  return (await storage.log.entries('task')).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}

const inputOf = ({ setup }: Cell) => (setup === 'a small window' ? LONG_INPUT : INPUT)

async function compactionsIn(storage: Storage): Promise<number> {
  return (await storage.log.entries('task')).filter(({ type }) => type === 'compaction').length
}

/** Earlier words, the task, and a call and its result for each step; then the answer. */
function expectWhole(
  messages: readonly Message[],
  { cell, steps, isDone }: { readonly cell: Cell; readonly steps: number; readonly isDone: boolean },
): void {
  const { history, content } = inputOf(cell)
  const calls = Array.from({ length: steps }, () => ['assistant', 'tool']).flat()
  expect(messages.map(({ role }) => role)).toEqual([
    ...history.map(({ role }) => role),
    'user',
    ...calls,
    ...(isDone ? ['assistant'] : []),
  ])
  expect(messages.slice(0, history.length + 1)).toMatchObject([...history, { role: 'user', content }])
}

async function expectSpareKeyUsed(home: string, api: WireApi): Promise<void> {
  const path = join(home, 'auth.json')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const { credential_pool: pools } = JSON.parse(await readFile(path, 'utf8'))
  const [first] = pools[WIRES[api].provider]
  expect(isJsonObject(first) && first['last_status']).toMatch(/^(?:exhausted|dead)$/)
  expect(JSON.stringify(server.requests.at(-1)!.headers)).toContain('secret-2')
}

describe('a task whose endpoint has a fault', () => {
  it.each(cells)('%s %s on %s with %s loses and repeats nothing', async (_name, _when, _api, _setup, cell) => {
    const { name, fault, api, setup, moment } = cell
    await using home = await temporaryHome()
    const storage = await openStorage({ path: join(home.path, 'state.db') })
    try {
      const world = { storage, steps: join(home.path, 'steps'), cell }
      server.setHandler(answering(cell))
      other.setHandler(standingIn(cell))
      alerting.alertAfter(fault.alert === 'answer' ? HALF_TEXT : null)
      const hasFallback = setup === 'a fallback' || setup === 'a faulty fallback'
      const fallbacks = hasFallback ? [{ ...endpoint(cell, other), apiKey: 'secret-other' }] : []
      const model = { ...endpoint(cell, server), ...(await keysIn(home.path, cell)), fallbacks }
      const result = await agentOf(model, world).run(inputOf(cell)).result
      const alike = hasFallback ? 'a fallback' : setup === 'a small window' ? 'one key' : setup
      const isShortened = setup === 'a small window' && !moment.isLasting && OF_SIZE.includes(name)
      const survives = isShortened || (moment.isLasting ? fault.always : fault.once).includes(alike)
      if (survives) expect(result).toMatchObject({ status: 'completed', text: WHOLE })
      else {
        expect(result.status).toBe('failed')
        expect(result.error!.message).toMatch(SAYS_WHAT_TO_DO)
        expect(result.error!.message).not.toMatch(/\n|secret-/)
        expect(await readSteps(world.steps)).toBe(stepsUpTo(moment.step))
        expectWhole(await messagesIn(storage), { cell, steps: moment.step, isDone: false })
        server.setHandler(({ body }) => healthy(stepOf(body)))
        const healed = { ...endpoint(cell, server), apiKey: 'secret-healed' }
        const resumed = await agentOf(healed, world).run({ resume: true }).result
        expect(resumed).toMatchObject({ status: 'completed', text: WHOLE })
      }
      expect(await readSteps(world.steps)).toBe(stepsUpTo(STEPS))
      expectWhole(await messagesIn(storage), { cell, steps: STEPS, isDone: true })
      if (survives && setup === 'three keys' && !fault.once.includes('one key'))
        await expectSpareKeyUsed(home.path, api)
      if (setup === 'a small window') expect(await compactionsIn(storage)).toBeGreaterThan(0)
      expect([...server.violations, ...other.violations]).toEqual([])
    } finally {
      await storage.close()
    }
  })
})
