// Chats and clients of the API for a long time, with faults on every side: what the gateway holds does not grow.
// HERMES_TEST_SOAK_MINUTES is for how long, the warm-up included (45 in a long run); without it nothing runs: less says nothing. `pnpm soak tests/gateway/soak` is this alone.
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { startBotApiServer } from '@hermes/testkit/chats'
import { expect, it, onTestFinished } from 'vitest'
import { writeChatHome } from '../support/chat-home.js'
import { GATEWAY, KEY, startGateway } from '../support/gateway.js'

const MINUTES = Number(process.env['HERMES_TEST_SOAK_MINUTES'] ?? 0)
const PROBE = join(import.meta.dirname, '../support/process-probe.mjs')
const CHATS = 16
/** The pool of agents, and what fills at first, is full then: what has a bound, and what V8 notes of the code that it compiles, takes thousands of answers. */
const WARM_UP_MS = Math.max(40_000, MINUTES * 60_000 * 0.4)
/** What is left of the time. */
const WATCHED_MINUTES = Math.max(1, MINUTES - WARM_UP_MS / 60_000)
const SAMPLES = Math.max(10, Math.round(WATCHED_MINUTES * 2))
/** Of each chat, between an answer and the next message; shorter for the warm-up, so that what is rare has often been by its end. */
const [PAUSE_MS, WARM_PAUSE_MS] = [1_500, 50]
const MESSAGES_PER_CONVERSATION = 4
const FAULT_EVERY_MS = 2_000
/** By then the 64 agents are kept that may have a shell, and others were dropped for them: there are four answers in a conversation. */
const WARM_ANSWERS = 1_000
/** What takes longer is lost: a busy machine and a model that is too busy are no loss. */
const ANSWERED_MS = 400_000
const MIB = 2 ** 20

/** What a process holds. */
interface Held {
  readonly heapUsed: number
  /** Of that for code: V8 compiles more of it for hours, the rarer it runs. */
  readonly codeUsed: number
  readonly rss: number
  readonly resources: Readonly<Record<string, number>>
  readonly listeners: number
  readonly descriptors: number
}

/** What goes wrong with the model, in turn. */
const MODEL_FAULTS: readonly ModelStep[] = [
  { fault: 'status', status: 500 },
  { fault: 'cut', text: 'half of an answer', afterChunks: 1 },
  { fault: 'refuse' },
  { fault: 'malformed', text: 'half of an answer' },
  { fault: 'status', status: 429 },
]
const BOT_FAULTS = [
  ['sendMessage', { type: 'cut' }],
  ['getUpdates', { type: 'error', code: 502, description: 'Bad Gateway' }],
  ['sendMessage', { type: 'accepted-unheard' }],
  ['sendChatAction', { type: 'cut' }],
  ['getUpdates', { type: 'cut' }],
  ['sendMessage', { type: 'error', code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } }],
] as const

it.runIf(MINUTES > 0)(
  'holds no more at the end of a long time with faults than once it is warm',
  async () => {
    const [home, server, bot] = [
      await temporaryHome(),
      await startModelServer([], { keepRequests: false }),
      await startBotApiServer(),
    ]
    await writeChatHome(home.path, { base_url: bot.url, allow_all_users: true }, { agent: { api_max_retries: 6 } })
    const probeFile = join(home.path, 'probe')
    const env = { TELEGRAM_BOT_TOKEN: bot.token, API_SERVER_KEY: KEY, HERMES_TEST_PROBE_FILE: probeFile }
    const options = { home: home.path, cwd: join(home.path, 'work'), env, program: ['--import', PROBE, GATEWAY] }
    const gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'test'], options)
    onTestFinished(async () => {
      await gateway.stop()
      await Promise.all([server.close(), bot.close(), home.remove()])
    })
    let isOver = false
    // Whatever waits for an answer would wait in vain.
    const gone = once(gateway.child, 'exit').then(([code, signal]) => {
      if (!isOver) throw new Error(`the gateway ended by itself, ${signal ?? code}: ${gateway.stderr()}`)
    })
    onTestFinished(() => {
      isOver = true
    })
    let [modelFaults, calls] = [0, 0]
    let isFaulty = false
    server.setHandler(({ body }) => {
      if (isFaulty) {
        isFaulty = false
        return MODEL_FAULTS[modelFaults++ % MODEL_FAULTS.length]!
      }
      // In each conversation: of agents that called no tool 1,024 are kept, more than there are in this time.
      if (!body.messages.some(({ role }) => role === 'tool'))
        return { toolCalls: [{ id: `call_${++calls}`, name: 'terminal', args: { command: 'true' } }] }
      return { text: `answer ${'word '.repeat(40)}` }
    })
    const held = async () => (await (await fetch(`http://127.0.0.1:${readFileSync(probeFile, 'utf8')}`)).json()) as Held
    const processes = () => childrenOf(gateway.child.pid!)

    /** Leaves what the gateway knows for whoever looks for the reason. */
    const unanswered = (chat: number): never => {
      const kept = mkdtempSync(join(tmpdir(), 'hermes-soak-'))
      cpSync(home.path, kept, { recursive: true, filter: (path) => !/\/(?:pipes|shells|probe)(?:\/|$)/.test(path) })
      throw new Error(`chat ${chat} was not answered; the home is kept in ${kept}. ${gateway.stderr()}`)
    }
    let [answered, requests] = [0, 0]
    let pauseMs = WARM_PAUSE_MS
    let stop = new AbortController()
    const converse = async (chat: number) => {
      for (let turn = 1; !stop.signal.aborted; turn++) {
        const before = bot.messages(chat).length
        if (turn % MESSAGES_PER_CONVERSATION === 0) bot.say('/new', { userId: chat })
        else bot.say(`message ${turn}`, { userId: chat })
        await bot.waitFor(chat, (all) => all.length > before, ANSWERED_MS).catch(() => unanswered(chat))
        answered++
        await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: stop.signal }).catch(() => undefined)
      }
    }
    const callApi = async () => {
      while (!stop.signal.aborted) {
        const leaves = ++requests % 2 === 0
        const body = {
          model: 'test',
          stream: true,
          messages: [{ role: 'user', content: `request ${requests}` }],
        }
        const leave = new AbortController()
        const request = fetch(`${gateway.baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: leave.signal,
        }).then(async (response) => {
          // Once words come; the command has run by then.
          for await (const chunk of response.body!.pipeThrough(new TextDecoderStream()))
            if (leaves && chunk.includes('"content":"')) return leave.abort()
          answered++
        })
        await request.catch(() => undefined)
        await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined)
      }
    }
    const disturb = async () => {
      for (let turn = 0; !stop.signal.aborted; turn++) {
        if (turn % 2 === 0) isFaulty = true
        else {
          const [method, fault] = BOT_FAULTS[(turn >> 1) % BOT_FAULTS.length]!
          // Who waits longer after each failure would never be through with more than that.
          if (!bot.willFail(method)) bot.fail(method, fault)
        }
        await sleep(FAULT_EVERY_MS, undefined, { signal: stop.signal }).catch(() => undefined)
      }
    }
    /** Runs everything for so long, and looks `samples` times. */
    const load = async (ms: number, samples: number): Promise<readonly Held[]> => {
      stop = new AbortController()
      const work = [...Array.from({ length: CHATS }, (_, index) => converse(1_000 + index)), callApi(), disturb()]
      const seen: Held[] = []
      for (let sample = 0; sample < samples; sample++) {
        await Promise.race([
          sleep(ms / samples),
          gone,
          ...work.map((one) => one.then(() => new Promise<never>(() => {}))),
        ])
        seen.push(await held())
      }
      stop.abort()
      await Promise.all(work)
      isFaulty = false
      return seen
    }
    /** What stays where nothing is done; connections that are kept for a while are gone by then. */
    const atRest = async () => {
      await sleep(12_000)
      return { ...(await held()), processes: processes() }
    }

    await load(WARM_UP_MS, 1)
    while (answered < WARM_ANSWERS) await load(20_000, 1)
    const warm = await atRest()
    pauseMs = PAUSE_MS
    const samples = await load(WATCHED_MINUTES * 60_000, SAMPLES)
    const shown = (all: readonly number[]) => all.map((bytes) => (bytes / MIB).toFixed(1)).join(' ')
    const heaps = samples.map(({ heapUsed, codeUsed }) => heapUsed - codeUsed)
    const slope = slopeOf(
      heaps.map((bytes) => bytes / MIB),
      WATCHED_MINUTES / SAMPLES,
    )
    console.info(
      `${WATCHED_MINUTES.toFixed(1)} minutes after the warm-up, ${answered} answers in all, ${modelFaults} faults of the model: heap ${shown([warm.heapUsed - warm.codeUsed])} MiB at rest when warm, slope ${slope.perMinute.toFixed(3)} MiB a minute (at least ${slope.atLeast.toFixed(3)} at 95 %), RSS ${(warm.rss / MIB).toFixed(0)} MiB, then ${(samples.at(-1)!.rss / MIB).toFixed(0)} MiB; heaps ${shown(heaps)}, and of code ${shown(samples.map(({ codeUsed }) => codeUsed))}`,
    )
    await expect
      .poll(
        async () => {
          const { resources, listeners, descriptors, processes: children } = await atRest()
          return {
            more: moreThan(warm.resources, resources),
            listeners,
            // Agents that are kept have a shell each, and not all of them ran a command.
            isWithin: descriptors <= warm.descriptors && children <= warm.processes,
          }
        },
        { timeout: 120_000, interval: 1_000 },
      )
      .toEqual({ more: {}, listeners: warm.listeners, isWithin: true })
    const end = await atRest()
    expect(end.heapUsed).toBeLessThanOrEqual(warm.heapUsed * 1.15)
    // In less time code that is run for the first time counts as growth.
    if (MINUTES < 5) return
    expect(slope.atLeast).toBeLessThanOrEqual(0)
    expect(end.rss).toBeLessThanOrEqual(warm.rss * 1.1)
  },
  MINUTES * 60_000 + WARM_UP_MS + 600_000,
)

/** What there is more of than before. */
function moreThan(before: Held['resources'], now: Held['resources']): Held['resources'] {
  return Object.fromEntries(Object.entries(now).filter(([type, count]) => count > (before[type] ?? 0)))
}

/** Processes that a process started and that have not ended. */
function childrenOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean))
    .length
}

/** By least squares; `atLeast`: what it is above, with 95 % of certainty. */
function slopeOf(values: readonly number[], minutes: number): { readonly perMinute: number; readonly atLeast: number } {
  const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
  const times = values.map((_, index) => index * minutes)
  const [time, value] = [mean(times), mean(values)]
  const spread = times.reduce((sum, one) => sum + (one - time) ** 2, 0)
  const perMinute = values.reduce((sum, one, index) => sum + (times[index]! - time) * (one - value), 0) / spread
  const rest = values.reduce((sum, one, index) => sum + (one - value - perMinute * (times[index]! - time)) ** 2, 0)
  const error = Math.sqrt(rest / (values.length - 2) / spread)
  return { perMinute, atLeast: perMinute - 1.7 * error }
}
