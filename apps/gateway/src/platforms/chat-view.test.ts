import { silentLogger } from '@hermes/contracts'
import type { SessionEvent } from '@hermes/host'
import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { ChatView } from './chat-view.js'

it('ends the typing sign with the run, also where the chat went on in another session', async () => {
  const clock = createFakeClock()
  let shown = 0
  const workers = new Map<string, unknown>([['s', { target: '7' }]])
  const view = new ChatView({
    platform: { showTyping: async () => void shown++ },
    workerOf: (sessionId: string) => workers.get(sessionId),
    ...{ bubbles: {}, showsTyping: true, written: () => undefined, clock, logger: silentLogger },
  } as never)
  const event = (type: string) =>
    ({ sessionId: 's', event: { type, agentPath: ['root'], messageId: 'm' } }) as unknown as SessionEvent
  const laterShown = async () => {
    await clock.advance(4_000)
    await new Promise(setImmediate)
    return shown
  }
  view.show(event('run-start'))
  await expect.poll(laterShown).toBeGreaterThan(1)
  workers.clear()
  view.show(event('run-end'))
  const atEnd = await laterShown()
  expect(await laterShown()).toBe(atEnd)
})
