import { silentLogger } from '@hermes/contracts'
import type { ReadyAgent, Runtime } from '@hermes/runtime'
import { createFakeClock } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { Agents } from './agents.js'

const HALF_AN_HOUR_MS = 30 * 60_000

it('ends the session of an agent that nobody asked for half an hour', async () => {
  const closed: [string, string | undefined][] = []
  const runtime = {
    storage: async () => ({ sessions: { get: async () => null } }),
    createAgent: async ({ sessionId }: { readonly sessionId: string }) => ({
      hasProcesses: () => false,
      close: async (reason?: string) => void closed.push([sessionId, reason]),
    }),
  } as unknown as Runtime & { createAgent(): Promise<ReadyAgent> }
  const clock = createFakeClock(0)
  const agents = new Agents({ runtime, cwd: '/', request: {}, clock, logger: silentLogger, isTaken: () => false })
  onTestFinished(() => agents.close())
  await agents.open('quiet', '')
  await clock.advance(HALF_AN_HOUR_MS)
  await agents.open('used', '')
  expect(closed).toEqual([])
  await clock.advance(1)
  await agents.open('used', '')
  expect(closed).toEqual([['quiet', 'idle']])
})
