import { silentLogger } from '@hermes/contracts'
import type { SessionEvent } from '@hermes/host'
import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { ChatView } from './chat-view.js'

const shows = { calls: 'off', hasFooter: false, footerFields: [], news: 'all' }

it('ends the typing sign with the run, also where the chat went on in another session', async () => {
  const clock = createFakeClock()
  let shown = 0
  const workers = new Map<string, unknown>([['s', { target: '7', chat: {} }]])
  const view = new ChatView({
    platform: { showTyping: async () => void shown++ },
    workerOf: (sessionId: string) => workers.get(sessionId),
    ...{
      bubbles: {},
      shows,
      showsTyping: true,
      tellsEveryMs: 0,
      written: () => undefined,
      clock,
      logger: silentLogger,
    },
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
  view.show({ sessionId: 's', event: { type: 'run-end', agentPath: ['root'], result: {} } } as never)
  const atEnd = await laterShown()
  expect(await laterShown()).toBe(atEnd)
})

it('says of a long run that it goes on, each time after twice as long', async () => {
  const clock = createFakeClock()
  const notified: string[] = []
  const agent = { activity: () => ({ description: 'terminal: npm test' }) }
  const worker = {
    ...{ target: '7', chat: { sessionId: 's' }, handle: { agent: async () => ({ agent }) } },
    tell: async (_key: string, { text }: { text: string }) => void notified.push(text),
  }
  const view = new ChatView({
    ...{ platform: {}, workerOf: () => worker, bubbles: {}, shows, showsTyping: false, written: () => undefined },
    ...{ tellsEveryMs: 60_000, clock, logger: silentLogger },
  } as never)
  const event = (type: string) => ({ sessionId: 's', event: { type, agentPath: ['root'] } }) as unknown as SessionEvent
  view.show(event('run-start'))
  const after = async (ms: number) => {
    await clock.advance(ms)
    await new Promise(setImmediate)
    return notified.length
  }
  expect([await after(60_000), await after(60_000), await after(60_000)]).toEqual([1, 1, 2])
  expect(notified[0]).toMatch(/Still at work, for 1 m.*: terminal: npm test\. \/stop ends it\./)
  view.show({ sessionId: 's', event: { type: 'run-end', agentPath: ['root'], result: {} } } as never)
  expect(await after(600_000)).toBe(2)
  view.show({ sessionId: 's', event: { type: 'background-end', id: 't1', state: 'completed' } } as never)
  view.show({ sessionId: 's', event: { type: 'background-end', id: 't2', state: 'failed' } } as never)
  expect(notified.slice(2)).toEqual([
    '✓ The task t1 in the background is done.',
    '⚠ The task t2 in the background ended: failed.',
  ])
})
