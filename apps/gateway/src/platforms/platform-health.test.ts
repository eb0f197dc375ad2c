import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { Figures } from '../figures.js'
import { stateFile } from '../gateway-state.js'
import { checkPlatforms } from './check-platforms.js'
import { hearing, type PlatformReport } from './platform-health.js'

const report = (over: Partial<PlatformReport>): PlatformReport => {
  return { name: 'telegram', state: { type: 'connecting' }, heardAtMs: null, atWork: 0, ...over }
}

it('says how often a platform could not be reached, when it is tried next, and how to have it tried now', () => {
  const waiting = (failures: number) =>
    report({ state: { type: 'waiting', error: 'Telegram cannot be reached.', retryAtMs: 61_500, failures } })
  expect(hearing(waiting(7), 1_000)).toEqual({
    hears: false,
    text: '7 tries to connect in a row failed (Telegram cannot be reached.), the next is in 61 s, or now with: hermes gateway platforms resume telegram',
  })
  expect(hearing(waiting(1), 1_000).text).toMatch(/^the last try to connect failed/)
})

it('counts what came to nothing as figures, also while the next try is under way', async () => {
  let now: readonly PlatformReport[] = []
  const figures = new Figures({
    load: () => ({ underWay: 0, waiting: 0 }) as never,
    platforms: () => now,
    now: () => 0,
  })
  const failed = async (kind: string) =>
    (await figures.text()).text.match(new RegExp(`hermes_platform_failed_${kind}\\{platform="telegram"\\} (\\d+)`))?.[1]
  now = [report({ state: { type: 'waiting', error: 'x', retryAtMs: 0, failures: 6 } })]
  expect(await failed('connects')).toBe('6')
  now = [report({ state: { type: 'connecting', failures: 6 } })]
  expect(await failed('connects')).toBe('6')
  const sending = { type: 'broken', failures: 8, error: 'x', untilMs: 0 } as const
  now = [report({ state: { type: 'connected', account: '@h' }, sending })]
  expect([await failed('connects'), await failed('sends')]).toEqual(['0', '8'])
})

it('is a finding of the doctor, as the gateway that runs says it', async () => {
  const { path: home, remove } = await temporaryHome()
  onTestFinished(remove)
  const state = { type: 'waiting', error: 'No route.', retryAtMs: Date.now(), failures: 6 } as const
  const about = { startedAtMs: 0, address: '', model: 'm', isSafe: false, isSupervised: false, isInTerminal: false }
  const platforms = [report({ state }), report({ name: 'email', state: { type: 'paused' } })]
  await stateFile(home, process.pid).write({ ...about, flags: [], platforms, updatedAtMs: Date.now() })
  const findings = await checkPlatforms({ home, env: {}, own: [], fetchTo: () => fetch, isOffline: true })
  expect(findings).toEqual([
    {
      level: 'warn',
      text: expect.stringMatching(/^telegram, in the gateway \(process \d+\): 6 tries to connect in a row/),
    },
  ])
})
