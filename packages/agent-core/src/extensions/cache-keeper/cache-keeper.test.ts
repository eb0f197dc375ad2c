import { systemClock } from '@hermes/contracts'
import { defineTool } from '@hermes/contracts/tool'
import { createModelClient, type ModelClientOptions, type UsageEvent } from '@hermes/models'
import { createBudgetGuard } from '@hermes/models/spending'
import {
  type CapturedRequest,
  createFakeClock,
  type FakeClock,
  type ModelServer,
  startModelServer,
} from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createAgent } from '../../agent.js'
import type { AgentEvent } from '../../events/event.js'
import { cacheKeeper } from './extension.js'

const MINUTE = 60_000
const LIFETIME = 5 * MINUTE
const REFRESH_AFTER = 4.5 * MINUTE
const PRICES = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
/** 10,000 tokens. */
const SYSTEM = 'You build things.\n'.padEnd(40_000, 'Be brief. ')

let server: ModelServer
let clock: FakeClock
let cache: ReturnType<typeof providerCache>
let ledger: UsageEvent[]
let events: AgentEvent[]
/** Resolves once a build is under way. */
let building: PromiseWithResolvers<void>
/** Resolves once a call has come to something. */
let counted: PromiseWithResolvers<void>

beforeEach(async () => {
  server = await startModelServer()
  clock = createFakeClock()
  cache = providerCache()
  ledger = []
  events = []
  building = Promise.withResolvers()
  counted = Promise.withResolvers()
})
afterEach(() => server.close())

const isRefresh = ({ body }: CapturedRequest) => body['max_tokens'] === 1

/** Keeps marked prefixes for five minutes since their last use, as the provider does, four bytes to a token. */
function providerCache() {
  const usedAtMs = new Map<string, number>()
  return ({ body }: CapturedRequest) => {
    const { system, tools, tool_choice, thinking, messages } = body as unknown as Record<string, readonly object[]>
    const plain = (value: unknown) => JSON.stringify(value, (key, item) => (key === 'cache_control' ? undefined : item))
    const head = plain([tools, tool_choice, thinking, system])
    const marked = messages!.flatMap((message, index) =>
      JSON.stringify(message).includes('cache_control') ? [index] : [],
    )
    const prefixes = [head, ...marked.map((index) => head + plain(messages!.slice(0, index + 1)))]
    const isKept = (prefix: string) => clock.now() - (usedAtMs.get(prefix) ?? -LIFETIME) < LIFETIME
    const read = prefixes.findLast(isKept)?.length ?? 0
    for (const prefix of prefixes) usedAtMs.set(prefix, clock.now())
    const whole = head.length + plain(messages).length
    const tokens = (chars: number) => Math.round(chars / 4)
    const written = prefixes.at(-1)!.length - read
    return {
      inputTokens: tokens(whole),
      cacheReadTokens: tokens(read),
      cacheWriteTokens: tokens(written),
      outputTokens: 1,
    }
  }
}

interface Setup {
  readonly builds: number
  readonly minutes: number
  readonly model?: Partial<ModelClientOptions>
  readonly isOn?: boolean
}

/** An agent that calls for a build so often, each of which takes so long. */
function start({ builds, minutes, model: more = {}, isOn = true }: Setup) {
  let answers = 0
  server.setHandler((request) => {
    const usage = cache(request)
    if (isRefresh(request)) return { text: 'I', finishReason: 'max_tokens', usage }
    return answers++ < builds ? { toolCalls: [{ name: 'build' }], usage } : { text: 'Built.', usage }
  })
  const onUsage = (event: UsageEvent) => {
    ledger.push(event)
    counted.resolve()
  }
  const model = createModelClient({
    ...{ provider: 'anthropic', model: 'claude-sonnet-4-5', apiKey: 'k', prices: PRICES },
    ...{ baseUrl: server.anthropicBaseUrl, clock: systemClock, onUsage },
    ...more,
  })
  const build = defineTool({
    ...{ name: 'build', toolset: 'build', description: 'Builds.', effect: 'write', parameters: { type: 'object' } },
    execute: async (_, { signal }) => {
      const done = clock.sleep(minutes * MINUTE, signal)
      building.resolve()
      await done
      return 'built'
    },
  })
  const extensions = isOn ? [cacheKeeper()] : []
  const agent = createAgent({ model, tools: [build], system: SYSTEM, clock, extensions, steps: { max: 90 } })
  const run = agent.run('Build it.')
  const reading = (async () => {
    for await (const event of run) events.push(event)
  })()
  return { agent, result: run.result.finally(() => reading) }
}

/** Lets the time of a build pass, refresh by refresh. */
async function passBuild(minutes: number, refreshes: number, atEnd = () => {}): Promise<void> {
  await building.promise
  building = Promise.withResolvers()
  for (let count = 0; count < refreshes; count++) {
    await clock.waitForSleepers(2)
    counted = Promise.withResolvers()
    await clock.advance(REFRESH_AFTER)
    await counted.promise
    await new Promise(setImmediate)
  }
  atEnd()
  await clock.advance(minutes * MINUTE - refreshes * REFRESH_AFTER)
}

const shareOf = (all: readonly UsageEvent[]) => {
  const sum = (key: 'inputTokens' | 'cacheReadTokens') => all.reduce((total, { usage }) => total + usage[key], 0)
  return sum('cacheReadTokens') / sum('inputTokens')
}
const costOf = (all: readonly UsageEvent[]) => all.reduce((total, { usage }) => total + Number(usage.costUsd), 0)
const notices = () => events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))

it('keeps 97 % of 60 turns cached while their tool takes 20 minutes, for less than without', async () => {
  const kept = start({ builds: 60, minutes: 20 })
  for (let turn = 0; turn < 60; turn++) await passBuild(20, 4)
  expect((await kept.result).status).toBe('completed')
  const [withIt, refreshes] = [ledger, server.requests.filter(isRefresh)]
  expect(refreshes).toHaveLength(240)
  expect(shareOf(withIt.filter(({ purpose }) => purpose === 'turn'))).toBeGreaterThan(0.97)
  expect(withIt.filter(({ purpose }) => purpose === 'cache')).toHaveLength(240)
  expect(notices().filter((text) => text.includes('prompt_caching.keep_warm'))).toHaveLength(1)

  ledger = []
  const plain = start({ builds: 60, minutes: 20, isOn: false })
  for (let turn = 0; turn < 60; turn++) await passBuild(20, 0)
  await plain.result
  expect(shareOf(ledger)).toBeLessThan(0.5)
  expect(costOf(withIt)).toBeLessThan(0.5 * costOf(ledger))
}, 60_000)

it('asks with the bytes of the request before, but for the limit of output', async () => {
  const { result } = start({ builds: 1, minutes: 10 })
  await passBuild(10, 2)
  await result
  const [first, ...others] = server.requests.map(({ text }) => text.replace(/"max_tokens":\d+/, '"max_tokens":N'))
  expect(server.requests.map(isRefresh)).toEqual([false, true, true, false])
  expect(others.slice(0, 2)).toEqual([first, first])
  expect(server.violations).toEqual([])
})

it('gives a wait up after half of what it can save, and the session the next time', async () => {
  const { result } = start({ builds: 3, minutes: 600 })
  await passBuild(600, 5)
  expect(server.requests.filter(isRefresh)).toHaveLength(5)
  // Nothing was saved, so nothing is spent on the waits after it.
  await passBuild(600, 0)
  await passBuild(600, 0)
  await result
  expect(server.requests.filter(isRefresh)).toHaveLength(5)
  const saves = ((SYSTEM.length / 4) * (PRICES.cacheWritePerMillion - PRICES.cacheReadPerMillion)) / 1_000_000
  expect(costOf(ledger.filter(({ purpose }) => purpose === 'cache'))).toBeLessThan(saves / 2)
})

it('counts as saved what the next request reads from the cache, and nothing else', async () => {
  const { result } = start({ builds: 2, minutes: 20 })
  // As after a compaction: what was kept is of no use.
  await passBuild(20, 4, () => {
    cache = providerCache()
  })
  await passBuild(20, 1)
  await result
  expect(server.requests.filter(isRefresh)).toHaveLength(5)
})

it('asks nothing once the machine was asleep for longer than the prefix is kept', async () => {
  const inner = clock
  let asleepMs = 0
  clock = {
    now: () => inner.now() + asleepMs,
    sleep: (ms, signal) => inner.sleep(ms, signal),
    advance: (ms) => inner.advance(ms),
    waitForSleepers: (count) => inner.waitForSleepers(count),
    pending: () => inner.pending(),
  }
  const { result } = start({ builds: 1, minutes: 20 })
  await building.promise
  await clock.waitForSleepers(2)
  asleepMs = 60 * MINUTE
  await clock.advance(20 * MINUTE)
  await result
  expect(server.requests.map(isRefresh)).toEqual([false, false])
})

it('asks nothing where another key would ask, whose cache is another one', async () => {
  let selected = 0
  const credentials: NonNullable<ModelClientOptions['credentials']> = {
    select: async () => ({ id: `key-${selected++ % 2}`, secret: 'k' }),
    usableAtMs: async () => null,
    report: async () => undefined,
    refresh: async () => null,
  }
  const { result } = start({ builds: 1, minutes: 20, model: { credentials } })
  await building.promise
  await clock.waitForSleepers(2)
  await clock.advance(20 * MINUTE)
  expect((await result).status).toBe('completed')
  expect(server.requests.map(isRefresh)).toEqual([false, false])
})

it.each([
  [{ tokens: 10_000_000 }, 0],
  [{ usd: 100 }, 4],
])('under a budget of %j for the session it asks %i times', async (session, refreshes) => {
  const store = { reserve: async () => true, release: () => undefined }
  const budget = createBudgetGuard({ limits: { session }, store, clock, timeZone: 'UTC' })
  const { result } = start({ builds: 1, minutes: 20, model: { budget } })
  await passBuild(20, refreshes)
  await result
  expect(server.requests.filter(isRefresh)).toHaveLength(refreshes)
})

it('asks nothing for a tool that is quicker than the cache', async () => {
  const { result } = start({ builds: 3, minutes: 4 })
  for (let turn = 0; turn < 3; turn++) await passBuild(4, 0)
  await result
  expect(server.requests).toHaveLength(4)
  expect(notices()).toEqual([])
})

it.each<readonly [string, Partial<ModelClientOptions>]>([
  ['prices are unknown', { prices: null as never }],
  ['prices do not say what the cache costs', { prices: { inputPerMillion: 3, outputPerMillion: 15 } }],
  ['it saves next to nothing', { prices: { ...PRICES, cacheWritePerMillion: 0.31 } }],
  ['the wire has no marks', { provider: 'custom', api: 'chat-completions', baseUrl: '' }],
])('asks nothing where %s', async (_, model) => {
  const { result } = start({
    builds: 1,
    minutes: 20,
    model: { ...model, ...(model.baseUrl === '' ? { baseUrl: server.baseUrl } : {}) },
  })
  await passBuild(20, 0)
  expect((await result).status).toBe('completed')
  expect(server.requests).toHaveLength(2)
})

it('ends with the run: an interrupt asks no more', async () => {
  const { agent, result } = start({ builds: 1, minutes: 60 })
  await clock.waitForSleepers(2)
  await clock.advance(REFRESH_AFTER)
  await server.waitForRequests(2)
  await server.requests[1]!.ended
  await clock.waitForSleepers(2)
  agent.interrupt()
  expect((await result).status).toBe('interrupted')
  expect(clock.pending()).toEqual([])
  expect(server.requests).toHaveLength(2)
})

it('a refresh that fails is tried once, and the run does not notice', async () => {
  const { result } = start({ builds: 1, minutes: 20 })
  await clock.waitForSleepers(2)
  server.enqueue({ fault: 'status', status: 529 })
  await clock.advance(REFRESH_AFTER)
  await server.waitForRequests(2)
  await server.requests[1]!.ended
  await clock.advance(20 * MINUTE)
  expect((await result).status).toBe('completed')
  expect(server.requests.map(isRefresh)).toEqual([false, true, false])
})

it('a refresh that finds nothing in the cache is the last', async () => {
  const { result } = start({ builds: 1, minutes: 20 })
  await clock.waitForSleepers(2)
  cache = providerCache()
  await clock.advance(REFRESH_AFTER)
  await server.waitForRequests(2)
  await server.requests[1]!.ended
  await clock.advance(20 * MINUTE)
  await result
  expect(server.requests.map(isRefresh)).toEqual([false, true, false])
})
