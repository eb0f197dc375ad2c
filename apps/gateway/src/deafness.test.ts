import { type Logger, silentLogger } from '@hermes/contracts'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { DeafnessWatch, watchDeafness } from './deafness.js'
import type { PlatformReport } from './platforms/platform-health.js'

const connected = (name: string, heardAtMs: number): PlatformReport => {
  return { name, state: { type: 'connected', account: '@h' }, heardAtMs, atWork: 0 }
}

function watch() {
  const clock = createFakeClock(1_000_000)
  let reports: readonly PlatformReport[] = []
  const notified: NewOutboxMessage[] = []
  const posted: string[] = []
  const deafness = new DeafnessWatch({
    reports: () => reports,
    owner: { telegram: ['7'], email: ['ada@example.com'], chat: ['1'] },
    outbox: async () => ({ add: async (messages) => notified.push(...messages) }),
    post: async (text) => void posted.push(text),
    clock,
    logger: silentLogger,
  })
  const look = async (afterMs: number, ...now: PlatformReport[]) => {
    await clock.advance(afterMs)
    reports = now
    await deafness.look()
    return notified.splice(0).map(({ platform, target, body }) => `${platform}:${target} ${String(body['text'])}`)
  }
  return { clock, look, posted }
}

it('is told once on every other platform that hears and at the address, and so is its end', async () => {
  const { clock, look, posted } = watch()
  const start = clock.now()
  expect(await look(60_000, connected('telegram', start), connected('email', start))).toEqual([])
  const now = start + 125_000
  const deaf = await look(65_000, connected('telegram', start), connected('email', now), connected('chat', start))
  expect(deaf).toEqual([
    expect.stringMatching(/^email:ada@example\.com telegram brings no messages: .*deaf: last heard 125 s ago/),
    expect.stringMatching(/^email:ada@example\.com chat brings no messages/),
  ])
  expect(await look(15_000, connected('telegram', start), connected('email', now))).toEqual([])
  expect(await look(15_000, connected('telegram', now + 30_000), connected('email', now + 30_000))).toEqual([
    'email:ada@example.com telegram hears again.',
  ])
  expect(posted).toHaveLength(3)
})

it('is told at once of a platform that will not try again, and of none that has just begun to try', async () => {
  const { clock, look } = watch()
  const email = () => connected('email', clock.now())
  const waiting: PlatformReport = {
    ...connected('telegram', 0),
    state: { type: 'waiting', error: 'no network', retryAtMs: 0, failures: 1 },
    heardAtMs: clock.now(),
  }
  expect(await look(100_000, waiting, email())).toEqual([])
  expect(await look(20_000, waiting, email())).toHaveLength(1)
  const failed: PlatformReport = { ...connected('chat', clock.now()), state: { type: 'failed', error: 'revoked' } }
  expect(await look(0, failed, email())).toEqual([
    expect.stringContaining('off until the configuration changes: revoked'),
  ])
})

it('goes on after a look that failed', async () => {
  const [clock, over, looked] = [createFakeClock(), new AbortController(), Promise.withResolvers<void>()]
  const lines: string[] = []
  const logger: Logger = { ...silentLogger, error: (line) => void lines.push(line) }
  let looks = 0
  const reports = () => {
    if (++looks === 1) throw new Error('no such platform')
    looked.resolve()
    return []
  }
  const outbox = async () => ({ add: async () => 0 })
  const watching = watchDeafness({ reports, owner: {}, outbox, post: null, clock, logger }, over.signal)
  await clock.waitForSleepers()
  await clock.advance(15_000)
  await looked.promise
  over.abort()
  await watching
  expect(lines).toEqual([expect.stringContaining('could not be seen')])
})
