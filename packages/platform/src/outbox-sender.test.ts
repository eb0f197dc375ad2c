import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { Platform, PlatformMessage } from '@hermes/contracts/platform'
import { expect, it } from 'vitest'
import { Breaker, type Outgoing, platformError, type SendableMessage, type SenderOutbox, sendOutbox } from './index.js'

type Row = SendableMessage & { readonly id: number }

/** An outbox in memory; that of the store has a suite of its own. */
function outboxOf(rows: Row[]) {
  const outcomes: string[] = []
  const outbox: SenderOutbox<Row> = {
    take: async () => rows.shift() ?? null,
    offering: async () => {},
    accepted: async (row, { platformId }) => ({
      ...row,
      sentParts: row.sentParts + 1,
      platformIds: [...row.platformIds, platformId],
      mayBeSent: false,
    }),
    settle: async (row, outcome) => {
      outcomes.push(outcome.type)
      // Due at once, whatever was said.
      if (outcome.type === 'retry' || outcome.type === 'perhaps')
        rows.push({ ...row, attempt: row.attempt + 1, mayBeSent: row.mayBeSent || outcome.type === 'perhaps' })
    },
  }
  return { outbox, outcomes }
}

const row = (body: Outgoing, over: Partial<Row> = {}): Row => ({
  id: 1,
  key: 'k',
  platform: 'fake',
  target: '7',
  body: { ...body } as never,
  mayBeSent: false,
  attempt: 1,
  sentParts: 0,
  platformIds: [],
  createdAtMs: Date.now(),
  ...over,
})

function platformWith(failures: (Error | null)[]) {
  const sent: PlatformMessage[] = []
  const platform = {
    name: 'fake',
    abilities: { maxLength: { unit: 'utf16', limit: 300 }, replies: true },
    send: async (message: PlatformMessage) => {
      const failure = failures.shift()
      if (failure) throw failure
      sent.push(message)
      return String(sent.length)
    },
    edit: async () => {
      throw platformError('rejected', 'gone')
    },
  } as unknown as Platform
  return { platform, sent }
}

async function run(rows: Row[], failures: (Error | null)[], bubbleOf?: () => Promise<string | null>) {
  const [{ outbox, outcomes }, { platform, sent }] = [outboxOf(rows), platformWith(failures)]
  const stop = new AbortController()
  const options = { platform, outbox, clock: systemClock, logger: silentLogger, ...(bubbleOf ? { bubbleOf } : {}) }
  const done = sendOutbox(options, stop.signal)
  await expect.poll(() => rows.length === 0 && ['sent', 'failed'].includes(outcomes.at(-1) ?? '')).toBe(true)
  stop.abort()
  await done
  return { outcomes, sent, texts: sent.map(({ text }) => text) }
}

const long = `${'a'.repeat(200)}\n\n${'b'.repeat(200)}`

it('sends a long message in parts, the buttons under the last, as an answer with the first', async () => {
  const { sent } = await run([row({ text: long, replyTo: '5', buttons: [[{ label: 'ok', data: 'y' }]] })], [])
  expect(sent).toMatchObject([
    { text: 'a'.repeat(200), replyTo: '5' },
    { text: 'b'.repeat(200), buttons: [[{ data: 'y' }]] },
  ])
  expect([sent[0]!.buttons, sent[1]!.replyTo]).toEqual([undefined, undefined])
})

it('waits before each part where it is to', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: long })])
  const { platform, sent } = platformWith([])
  const [stop, waits] = [new AbortController(), [] as string[]]
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (ms !== 800) return systemClock.sleep(ms, signal)
    waits.push(`${ms} after ${sent.length}`)
  }
  const clock = { ...systemClock, now: () => systemClock.now(), sleep }
  const done = sendOutbox({ platform, outbox, clock, logger: silentLogger, pauseMs: () => 800 }, stop.signal)
  await expect.poll(() => outcomes).toEqual(['sent'])
  stop.abort()
  await done
  expect(waits).toEqual(['800 after 0', '800 after 1'])
})

/** Pauses that end with their signal alone. */
const endless = {
  ...systemClock,
  now: () => systemClock.now(),
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 800 ? 1_000_000 : ms, signal),
}

it('ends a pause when it is to end, and keeps what was not offered as it was', async () => {
  const rows = [row({ text: 'x' }, { createdAtMs: Date.now() - 25 * 3_600_000 })]
  const { outbox, outcomes } = outboxOf(rows)
  const { platform, sent } = platformWith([])
  const [stop, paused, offered] = [new AbortController(), Promise.withResolvers<void>(), [] as number[]]
  const pauseMs = () => {
    paused.resolve()
    return 800
  }
  const noted = { ...outbox, offering: async ({ id }: Row) => void offered.push(id) }
  const options = { platform, outbox: noted, clock: endless, logger: silentLogger, pauseMs }
  const done = sendOutbox(options, stop.signal)
  await paused.promise
  stop.abort()
  await done
  expect([outcomes, offered, sent]).toEqual([['retry'], [], []])
  expect(rows).toMatchObject([{ mayBeSent: false }])
})

it('sends to other chats while many messages pause', async () => {
  const slow = Array.from({ length: 20 }, (_, id) => row({ text: `${id}` }, { id, target: `${id}` }))
  const { outbox } = outboxOf([...slow, row({ text: 'now' }, { id: 99 })])
  const { platform, sent } = platformWith([])
  const stop = new AbortController()
  const pauseMs = ({ id }: Row) => (id === 99 ? 0 : 800)
  const done = sendOutbox({ platform, outbox, clock: endless, logger: silentLogger, pauseMs }, stop.signal)
  await expect.poll(() => sent.map(({ text }) => text)).toEqual(['now'])
  stop.abort()
  await done
})

it('takes nothing while it is held', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: 'x' })])
  const [stop, requested] = [new AbortController(), Promise.withResolvers<void>()]
  let isPaused = true
  const held = () => {
    if (isPaused) requested.resolve()
    return isPaused
  }
  const options = {
    platform: platformWith([]).platform,
    outbox,
    clock: systemClock,
    logger: silentLogger,
    isPaused: held,
  }
  const done = sendOutbox(options, stop.signal)
  await requested.promise
  expect(outcomes).toEqual([])
  isPaused = false
  await expect.poll(() => outcomes, { timeout: 5_000 }).toEqual(['sent'])
  stop.abort()
  await done
})

it('has two texts at once of which no answer is known, and lets none wait for long for one that hangs', async () => {
  const rows = Array.from({ length: 5 }, (_, id) => row({ text: `${id}` }, { id, target: `${id}` }))
  const { outbox, outcomes } = outboxOf(rows)
  const [offered, answers] = [[] as string[], [] as (() => void)[]]
  const platform = {
    ...platformWith([]).platform,
    send: ({ text }: PlatformMessage) => {
      offered.push(text)
      return new Promise<string>((resolve) => answers.push(() => resolve(text)))
    },
  } as Platform
  const [stop, late] = [new AbortController(), Promise.withResolvers<void>()]
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (ms !== 2_000) return systemClock.sleep(ms, signal)
    await Promise.race([late.promise, new Promise((resolve) => signal?.addEventListener('abort', resolve))])
  }
  const clock = { ...systemClock, now: () => systemClock.now(), sleep }
  const done = sendOutbox({ platform, outbox, clock, logger: silentLogger }, stop.signal)
  await expect.poll(() => [rows.length, offered]).toEqual([0, ['0', '1']])
  answers[0]!()
  await expect.poll(() => offered).toEqual(['0', '1', '2'])
  late.resolve()
  await expect.poll(() => offered).toEqual(['0', '1', '2', '3', '4'])
  for (const answer of answers) answer()
  await expect.poll(() => outcomes.length).toBe(5)
  stop.abort()
  await done
})

it('does not pause for what is shown already, whether it can be changed or not', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: 'whole' })])
  const { platform, sent } = platformWith([])
  const [stop, pauseMs] = [new AbortController(), () => 800]
  const options = { platform, outbox, clock: endless, logger: silentLogger, pauseMs, bubbleOf: async () => '99' }
  const done = sendOutbox(options, stop.signal)
  await expect.poll(() => outcomes).toEqual(['sent'])
  expect(sent).toMatchObject([{ text: 'whole' }])
  stop.abort()
  await done
})

it('goes on at the part that was refused', async () => {
  const { texts, outcomes } = await run(
    [row({ text: long })],
    [null, platformError('rate_limited', 'slow', { retryAfterMs: 5 })],
  )
  expect(texts.map((text) => text[0])).toEqual(['a', 'b'])
  expect(outcomes).toEqual(['retry', 'sent'])
})

it('marks the part that may have come already, and no other', async () => {
  const { texts, outcomes } = await run([row({ text: long })], [null, platformError('unknown_outcome', 'cut')])
  expect(outcomes).toEqual(['perhaps', 'sent'])
  expect(texts.map((text) => text.slice(0, 10))).toEqual(['aaaaaaaaaa', '(This may '])
  expect((await run([row({ text: long }, { mayBeSent: true })], [])).texts.map((text) => text[0])).toEqual(['(', 'b'])
})

it('sends plain text where markup is refused, and gives up what is refused for good', async () => {
  const plain = await run([row({ text: '**bold**' })], [platformError('markup_refused', 'no')])
  expect(plain.sent).toMatchObject([{ text: '**bold**', markup: 'plain' }])
  expect((await run([row({ text: 'x' })], [platformError('rejected', 'blocked')])).outcomes).toEqual(['failed'])
  const old = row({ text: 'x' }, { createdAtMs: Date.now() - 25 * 3_600_000 })
  expect((await run([old], [platformError('unreachable', 'down')])).outcomes).toEqual(['failed'])
})

it('sends anew what was shown while it was written and cannot be changed', async () => {
  expect((await run([row({ text: 'whole' })], [], async () => '99')).texts).toEqual(['whole'])
})

it('tries one message after five sends in a row that nobody answered, less and less often, and all once one is answered', async () => {
  let nowMs = 1_000_000
  const breaker = new Breaker({ now: () => nowMs })
  const rows = Array.from({ length: 20 }, (_, id) => row({ text: `${id}` }, { id, key: `k${id}`, target: `${id}` }))
  const { outbox, outcomes } = outboxOf(rows)
  let attempts = 0
  let isThere = false
  const { platform, sent } = platformWith([])
  const counting = {
    ...platform,
    send: async (message: PlatformMessage) => {
      attempts++
      if (!isThere) throw platformError('unreachable', 'No route.')
      return platform.send(message)
    },
  } as Platform
  const wakes: (() => void)[] = []
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      wakes.push(resolve)
      signal?.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const clock = { now: () => nowMs, sleep }
  const stop = new AbortController()
  const done = sendOutbox({ platform: counting, outbox, breaker, clock, logger: silentLogger }, stop.signal)
  const look = async (afterMs: number) => {
    nowMs += afterMs
    for (const wake of wakes.splice(0)) wake()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  await look(0)
  const before = attempts
  // Eight are under way at once.
  expect(before).toBeLessThanOrEqual(12)
  expect(breaker.state).toMatchObject({ type: 'broken', error: 'No route.', untilMs: nowMs + 5_000 })
  await look(4_999)
  expect(attempts).toBe(before)
  await look(1)
  expect(attempts).toBe(before + 1)
  await look(9_999)
  expect(attempts).toBe(before + 1)
  isThere = true
  await look(1)
  for (let turn = 0; turn < 10; turn++) await look(1_000)
  expect(breaker.state).toEqual({ type: 'open' })
  expect(sent).toHaveLength(20)
  expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(20)
  stop.abort()
  await look(0)
  await done
})

it('does not count a no as silence', async () => {
  const breaker = new Breaker({ now: () => 0 })
  for (let turn = 0; turn < 4; turn++) breaker.failed('No route.', false)
  breaker.answered()
  for (let turn = 0; turn < 4; turn++) breaker.failed('No route.', false)
  expect(breaker.state).toEqual({ type: 'open' })
  breaker.failed('No route.', false)
  expect(breaker.lets).toBe(false)
})

/** Broken at 0: one message is tried from 5,000 on. */
function brokenBreaker(clock: { now: () => number }) {
  const breaker = new Breaker(clock)
  for (let turn = 0; turn < 5; turn++) breaker.failed('No route.', false)
  return breaker
}

it('tries one at once where the clock was set back, and waits by the new time', () => {
  let nowMs = 1_000_000
  const breaker = brokenBreaker({ now: () => nowMs })
  expect(breaker.lets).toBe(false)
  nowMs = 500_000
  expect(breaker.lets).toBe(true)
  breaker.trying()
  breaker.failed('No route.', true)
  expect(breaker.state).toMatchObject({ untilMs: 510_000 })
  expect(breaker.lets).toBe(false)
})

it('hears nothing of the platform by what failed here, nor by what was under way as it broke', async () => {
  const clock = { now: () => Date.now(), sleep: systemClock.sleep }
  const before = { now: () => Date.now() - 60_000 }
  const tooLarge = row({ text: '', file: '/a' }, { key: 'file' })
  const unwritten = row({ text: 'Hello.' }, { key: 'unwritten', target: '8' })
  const breaker = brokenBreaker(before)
  const { outbox, outcomes } = outboxOf([tooLarge, unwritten])
  const { platform, sent } = platformWith([])
  const stop = new AbortController()
  let isFull = true
  const offering = async () => {
    if (!isFull) return
    isFull = false
    expect(breaker.state.type).toBe('broken')
    throw new Error('The disk is full.')
  }
  const loadFile = async () => ({ kind: 'file', name: 'a', mediaType: 'text/plain', bytes: new Uint8Array(9) }) as const
  const options = { platform, loadFile, outbox: { ...outbox, offering }, breaker, clock, logger: silentLogger }
  const done = sendOutbox(options, stop.signal)
  await expect.poll(() => outcomes).toEqual(['failed', 'retry', 'sent'])
  stop.abort()
  await done
  // What was never offered bears no mark of a repetition.
  expect(sent.map(({ text }) => text)).toEqual(['Hello.'])
  expect(breaker.state.type).toBe('open')
  const other = brokenBreaker(before)
  other.trying()
  other.unasked(false)
  other.failed('No route.', false)
  expect(other.lets).toBe(false)
})

it('changes once more what may have been changed already, in place of showing it twice', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: 'The answer.' })])
  const { platform, sent } = platformWith([])
  let edits = 0
  const edit = async () => {
    if (++edits === 1) throw platformError('unknown_outcome', 'No answer in time.')
  }
  const stop = new AbortController()
  const options = { platform: { ...platform, edit }, outbox, clock: systemClock, logger: silentLogger }
  const done = sendOutbox({ ...options, bubbleOf: async () => '5' }, stop.signal)
  await expect.poll(() => outcomes).toEqual(['perhaps', 'sent'])
  stop.abort()
  await done
  expect([sent, edits]).toEqual([[], 2])
})

it('writes down what came of a message once the store takes it again, and sends nothing twice', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: long }), row({ text: 'No.' }, { target: '8', key: 'refused' })])
  const { platform, sent } = platformWith([null, platformError('rejected', 'blocked')])
  const stop = new AbortController()
  const refusals = { accepted: 3, settle: 3 }
  const gone = (write: keyof typeof refusals) => {
    if (refusals[write]-- > 0) throw new Error('The store is gone.')
  }
  const forgetful: typeof outbox = {
    ...outbox,
    accepted: async (...args) => {
      gone('accepted')
      return outbox.accepted(...args)
    },
    settle: async (...args) => {
      gone('settle')
      return outbox.settle(...args)
    },
  }
  const clock = { now: () => Date.now(), sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(1, signal) }
  const done = sendOutbox({ platform, outbox: forgetful, clock, logger: silentLogger }, stop.signal)
  await expect.poll(() => [...outcomes].sort()).toEqual(['failed', 'sent'])
  stop.abort()
  await done
  expect(sent.map(({ text }) => text)).toEqual(['a'.repeat(200), 'b'.repeat(200)])
})

it('leaves a message to the hand that has it now', async () => {
  const { outbox, outcomes } = outboxOf([row({ text: 'x' }), row({ text: 'y' }, { key: 'next', target: '8' })])
  const { platform, sent } = platformWith([])
  const [stop, writes] = [new AbortController(), [] as string[]]
  const lose = (write: string) => {
    writes.push(write)
    throw new HermesError('Another process has it.', { code: 'store.outbox_lost' })
  }
  const lost: typeof outbox = {
    ...outbox,
    accepted: async (...args) => (args[0].key === 'k' ? lose('accepted') : outbox.accepted(...args)),
    settle: async (...args) => (args[0].key === 'k' ? lose('settle') : outbox.settle(...args)),
  }
  // A second try would be made at once.
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (ms >= 1_000) await systemClock.sleep(ms, signal)
  }
  const clock = { now: () => Date.now(), sleep }
  const done = sendOutbox({ platform, outbox: lost, clock, logger: silentLogger }, stop.signal)
  await expect.poll(() => outcomes).toEqual(['sent'])
  stop.abort()
  await done
  expect([sent.map(({ text }) => text), writes]).toEqual([
    ['x', 'y'],
    ['accepted', 'settle'],
  ])
})
