import fc from 'fast-check'
import { expect, it } from 'vitest'
import { failed, keys, openPoolHome } from './__fixtures__/pool-home.js'
import { openCredentialStore, POOL_STRATEGIES } from './index.js'

const KEYS = 4

const step = fc.oneof(
  fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 7_200_000 }) }),
  fc.record({
    type: fc.constant('call' as const),
    outcome: fc.constantFrom('accepted', 'rate-limit', 'billing', 'auth', 'auth-permanent', 'overloaded'),
    retryAfterMs: fc.option(fc.integer({ min: 1, max: 7_200_000 }), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('late' as const), key: fc.nat(KEYS - 1), isAccepted: fc.boolean() }),
  fc.record({ type: fc.constant('reset' as const), key: fc.nat(KEYS - 1) }),
)

it('never hands out a resting or dead key, says rightly when the next is free, and gives back what is reset', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...POOL_STRATEGIES),
      fc.array(step, { maxLength: 25 }),
      async (strategy, steps) => {
        await using home = await openPoolHome(keys(...Array.from({ length: KEYS }, () => ({}))))
        const store = openCredentialStore({ path: home.path, clock: home.clock })
        // Two pools on one file, as two processes have them.
        const pools = [home.pool({ strategy }), home.pool({ strategy })]
        for (const [index, action] of steps.entries()) {
          const pool = pools[index % 2]!
          const stateOf = async (id: string) => (await pool.entries()).find((entry) => entry.id === id)!.state
          switch (action.type) {
            case 'wait':
              await home.clock.advance(action.ms)
              break
            case 'reset':
              await store.reset('p', `id-${action.key}`)
              expect(await stateOf(`id-${action.key}`)).toEqual({ type: 'ready' })
              break
            case 'late': {
              const before = await stateOf(`id-${action.key}`)
              const credential = { id: `id-${action.key}`, secret: 'one-that-was-replaced' }
              await pool.report(credential, action.isAccepted ? { type: 'accepted' } : failed('auth-permanent'))
              expect(await stateOf(`id-${action.key}`)).toEqual(before)
              break
            }
            case 'call': {
              const usable = (await pool.entries()).filter(({ state }) => state.type === 'ready').map(({ id }) => id)
              const usableAtMs = await pool.usableAtMs()
              const credential = await pool.select()
              if (credential === null) {
                expect(usable).toEqual([])
                expect(usableAtMs === null || usableAtMs > home.clock.now()).toBe(true)
                break
              }
              expect(usable).toContain(credential.id)
              expect(usableAtMs).toBe(home.clock.now())
              const { outcome, retryAfterMs } = action
              if (outcome === 'accepted') await pool.report(credential, { type: 'accepted' })
              else {
                const shouldRotateCredential = outcome !== 'overloaded'
                await pool.report(credential, failed(outcome as 'auth', { retryAfterMs, shouldRotateCredential }))
                const ready = outcome === 'overloaded'
                expect((await stateOf(credential.id)).type === 'ready').toBe(ready)
              }
              break
            }
            default:
              action satisfies never
          }
        }
        await store.reset('p')
        expect((await pools[0]!.entries()).every(({ state }) => state.type === 'ready')).toBe(true)
        expect(await pools[1]!.select()).not.toBeNull()
      },
    ),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 40) },
  )
})
