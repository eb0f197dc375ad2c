import type { Clock } from '@hermes/contracts'
import { messageText } from '@hermes/contracts/conversation'
import { defineTool } from '@hermes/contracts/tool'
import { type FaultStep, type ModelServer, type ModelStep, type StepHandler, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAgent } from '../index.js'

/** On each of the four wires; two hundred together in a long run. */
const TASKS = process.env['HERMES_TEST_RUNS'] === undefined ? 2 : 50
const STEPS = 10
const FAULT_RATE = 0.3
/** A thousand seconds in one. */
const SPEED = 1_000

const FAULTS: readonly FaultStep[] = [
  { fault: 'status', status: 429, retryAfterSeconds: 3 },
  { fault: 'status', status: 429 },
  { fault: 'status', status: 500 },
  { fault: 'html', status: 502 },
  { fault: 'status', status: 529 },
  { fault: 'refuse' },
  { fault: 'cut', text: 'Half of an ans' },
  { fault: 'cut', toolCalls: [{ name: 'write', args: { step: 99 } }], afterChunks: 3 },
  { fault: 'cut', text: 'Half of an ans', how: 'end' },
  { fault: 'stall', text: 'Half of an ans', afterChunks: 2 },
  { fault: 'malformed', text: 'Half of an ans', afterChunks: 2 },
]

/** A small generator of equally spread numbers from 0 to below 1 (mulberry32), so that a seed gives the same run again. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const fastClock: Clock = {
  now: () => performance.now() * SPEED,
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

/** How each wire is asked for, and what a result of a tool looks like on it. */
const WIRES: Readonly<Record<string, { readonly provider: string; readonly isBare?: true; readonly result: RegExp }>> =
  {
    'chat-completions': { provider: 'custom', result: /"role":"tool"/g },
    'anthropic-messages': { provider: 'anthropic', isBare: true, result: /"type":"tool_result"/g },
    responses: { provider: 'xai', result: /"type":"function_call_output"/g },
    'bedrock-converse': { provider: 'bedrock', isBare: true, result: /"toolResult":/g },
  }

/** More in a row would rightly end a run. */
const MOST_IN_A_ROW = 4

function answering(random: () => number, result: RegExp): StepHandler {
  let inARow = 0
  return ({ body }): ModelStep => {
    const fails = random() < FAULT_RATE && inARow < MOST_IN_A_ROW
    inARow = fails ? inARow + 1 : 0
    if (fails) return FAULTS[Math.floor(random() * FAULTS.length)]!
    const step = JSON.stringify(body).match(result)?.length ?? 0
    return step < STEPS ? { toolCalls: [{ name: 'write', args: { step } }] } : { text: `Done after ${step} steps.` }
  }
}

describe.each(Object.entries(WIRES))('an agent on %s whose endpoints fail three times in ten', (_api, wire) => {
  let servers: readonly ModelServer[]
  beforeEach(async () => {
    servers = await Promise.all([startModelServer(), startModelServer(), startModelServer()])
  })
  afterEach(() => Promise.all(servers.map((server) => server.close())))

  it(`completes ${TASKS} tasks of ten steps, each step done once and no message lost`, async () => {
    const seed = Number(process.env['HERMES_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    const random = randomFrom(seed)
    for (const server of servers) server.setHandler(answering(random, wire.result))
    const { provider, isBare } = wire
    const [model, ...fallbacks] = servers.map(({ baseUrl, anthropicBaseUrl }) => {
      return { provider, model: 'm', baseUrl: isBare ? anthropicBaseUrl : baseUrl, apiKey: 'key' }
    })
    for (let task = 0; task < TASKS; task++) {
      const done: number[] = []
      const write = defineTool<{ step: number }>({
        name: 'write',
        toolset: 'test',
        description: 'Writes.',
        effect: 'write',
        concurrency: 'exclusive',
        parameters: { type: 'object', properties: { step: { type: 'integer' } } },
        execute: ({ step }) => ({ data: { written: done.push(step) } }),
      })
      const agent = createAgent({
        model: { ...model!, fallbacks, maxRetries: 6, clock: fastClock, random },
        tools: [write],
      })
      const result = await agent.run(`Task ${task}`).result
      expect({ seed, task, ...result }).toMatchObject({ status: 'completed', text: `Done after ${STEPS} steps.` })
      expect(done).toEqual(Array.from({ length: STEPS }, (_, step) => step))
      const messages = agent.entries().flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
      expect(messages.map(messageText)[0]).toBe(`Task ${task}`)
      expect(messages).toHaveLength(2 + 2 * STEPS)
    }
    expect(servers.flatMap(({ violations }) => violations)).toEqual([])
  }, 300_000)
})
