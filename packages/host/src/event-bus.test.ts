import type { AgentEvent } from '@hermes/agent-core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventBus, type EventReader } from './event-bus.js'

const base = { runId: 'r', sessionId: 's', agentPath: ['root'], atMs: 0 }
const delta = (text: string): AgentEvent => ({ ...base, type: 'message-delta', messageId: 'm', text })
const notice = (text: string): AgentEvent => ({ ...base, type: 'notice', level: 'info', text })
const end: AgentEvent = { ...base, type: 'run-end', result: { status: 'completed', text: '', usage: {} as never } }

/** What is unread now. */
async function drain(reader: EventReader, last: number): Promise<string[]> {
  const seen: string[] = []
  for (let cursor = 0; cursor < last; ) {
    const { value, done } = await reader.next()
    if (done) break
    cursor = value.cursor
    const { event } = value
    seen.push('text' in event ? event.text : event.type === 'events-missed' ? `missed ${event.count}` : event.type)
  }
  return seen
}

it('gives every reader all events in order, and merges deltas that nobody took yet', async () => {
  const bus = new EventBus()
  const [one, two] = [bus.read(), bus.read({ sessionId: 's' })]
  for (const event of [delta('a'), delta('b'), notice('n'), delta('c')]) bus.publish('s', event)
  bus.publish('other', notice('elsewhere'))
  bus.publish('s', end)
  expect(await drain(one, bus.cursor)).toEqual(['ab', 'n', 'c', 'elsewhere', 'run-end'])
  expect(await drain(two, bus.cursor)).toEqual(['ab', 'n', 'c', 'run-end'])
})

it('goes on after a cursor, and says how much is gone when that is too long ago', async () => {
  const bus = new EventBus()
  for (let at = 0; at < 10; at++) bus.publish('s', notice(`n${at}`))
  expect(await drain(bus.read({ after: 8 }), bus.cursor)).toEqual(['n8', 'n9'])
  const long = 'x'.repeat(400_000)
  for (let at = 0; at < 4; at++) bus.publish('s', notice(long))
  const seen = await drain(bus.read({ after: 2 }), bus.cursor)
  expect(seen[0]).toMatch(/^missed \d+$/)
  expect(seen.at(-1)).toBe(long)
  expect(seen.length).toBeLessThan(5)
})

it('holds a megabyte at most for a reader that never reads, and the end all the same', async () => {
  const bus = new EventBus()
  const reader = bus.read({ sessionId: 's' })
  for (let at = 0; at < 5_000; at++) bus.publish('s', notice(`${at} ${'y'.repeat(1_000)}`))
  bus.publish('s', end)
  const seen = await drain(reader, bus.cursor)
  expect(seen[0]).toMatch(/^missed \d+$/)
  expect(seen.join('').length * 2).toBeLessThan(1_100_000)
  expect(seen.at(-1)).toBe('run-end')
  const missed = Number(seen[0]!.split(' ')[1])
  expect(missed + seen.length - 1).toBe(5_001)
})

it('ends a reader that leaves while it waits, and no other', async () => {
  const bus = new EventBus()
  const [leaving, staying] = [bus.read(), bus.read()]
  const waiting = leaving.next()
  await leaving.return()
  expect((await waiting).done).toBe(true)
  bus.publish('s', end)
  expect((await leaving.next()).done).toBe(true)
  expect((await staying.next()).value?.event.type).toBe('run-end')
})

it('loses and doubles nothing, whenever readers come, read and leave', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), reader: fc.nat(3) }) },
    fc.record({ do: fc.constantFrom('join' as const, 'read' as const, 'leave' as const), reader: fc.nat(3) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const bus = new EventBus()
      const readers: ({ reader: EventReader; after: number } | null)[] = [null, null, null, null]
      const published: string[] = []
      const read = async (at: number) => {
        const known = readers[at]
        if (!known) return
        const expected = published.slice(known.after)
        expect(await drain(known.reader, expected.length === 0 ? 0 : bus.cursor)).toEqual(expected)
        known.after = published.length
      }
      for (const { do: what, reader: at } of steps) {
        if (what === 'publish') {
          published.push(`n${published.length}`)
          bus.publish('s', notice(published.at(-1)!))
        } else if (what === 'join') {
          await readers[at]?.reader.return()
          // Every other one comes late and asks for all there was.
          readers[at] =
            at % 2 === 0
              ? { reader: bus.read({ after: 0 }), after: 0 }
              : { reader: bus.read(), after: published.length }
        } else if (what === 'read') await read(at)
        else {
          await readers[at]?.reader.return()
          readers[at] = null
        }
      }
      for (const at of readers.keys()) await read(at)
    }),
  )
})

it('cuts off nobody who keeps up, however much was said since something was always left to read', async () => {
  const bus = new EventBus()
  const reader = bus.read({ sessionId: 's' })
  bus.publish('s', notice('first'))
  const seen: string[] = []
  for (let at = 0; at < 1_000; at++) {
    bus.publish('s', notice('y'.repeat(1_000)))
    const { value } = await reader.next()
    seen.push(value.event.type)
  }
  expect(new Set(seen)).toEqual(new Set(['notice']))
})

it('says nothing of missed events where one alone is over the limit', async () => {
  const bus = new EventBus()
  const reader = bus.read({ sessionId: 's' })
  const long = 'x'.repeat(600_000)
  bus.publish('s', notice(long))
  expect(await drain(reader, bus.cursor)).toEqual([long])
})

it('holds no more of one long message than of many', async () => {
  const bus = new EventBus()
  const reader = bus.read({ sessionId: 's' })
  for (let at = 0; at < 3_000; at++) bus.publish('s', delta('z'.repeat(1_000)))
  bus.publish('s', end)
  const seen = await drain(reader, bus.cursor)
  expect(seen[0]).toMatch(/^missed \d+$/)
  expect(seen.join('').length * 2).toBeLessThan(1_100_000)
  expect(seen.at(-1)).toBe('run-end')
})
