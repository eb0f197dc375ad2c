import { silentLogger } from '@hermes/contracts'
import { noUsage } from '@hermes/contracts/conversation'
import type { UsageLedger, UsageRecord } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'
import { createUsageRecorder } from './index.js'

const event = (atMs: number) => ({
  purpose: 'turn',
  turnId: 't',
  provider: 'p',
  model: 'm',
  usage: noUsage,
  priceSource: null,
  atMs,
  durationMs: 1,
})

function setUp() {
  const written: (readonly UsageRecord[])[] = []
  const faults: Error[] = []
  let opened = 0
  const ledger: UsageLedger = {
    record: async (records) => {
      const fault = faults.shift()
      if (fault) throw fault
      written.push(records)
    },
    totals: async () => [],
  }
  const open = async () => {
    opened++
    return ledger
  }
  const recorder = createUsageRecorder({ ledger: open, logger: silentLogger })
  return { recorder, written, faults, opened: () => opened }
}

describe('createUsageRecorder', () => {
  it('opens the ledger only when there is something to write, and writes what came together', async () => {
    const { recorder, written, opened } = setUp()
    await recorder.flush()
    expect(opened()).toBe(0)
    recorder.record(event(1))
    recorder.record(event(2))
    expect(written).toEqual([])
    await recorder.flush()
    await recorder.flush()
    const { turnId: _, ...record } = event(1)
    expect(written).toEqual([
      [
        { ...record, sessionId: null },
        { ...record, atMs: 2, sessionId: null },
      ],
    ])
  })

  it('charges delegated usage to the session of the parent', async () => {
    const { recorder, written } = setUp()
    recorder.record({ ...event(1), sessionId: 'child', root: { sessionId: 's', turnId: 'a' } })
    await recorder.flush()
    expect(written[0]).toMatchObject([{ sessionId: 's' }])
    expect(written[0]![0]).not.toHaveProperty('root')
  })

  it('keeps the mark of an estimate, and leaves its price alone', async () => {
    const { recorder, written } = setUp()
    recorder.record({ ...event(1), priceSource: 'given', isEstimate: true })
    recorder.record({ ...event(2), isEstimate: true })
    await recorder.flush()
    expect(written[0]!.map(({ priceSource }) => priceSource)).toEqual(['given', null])
    expect(written[0]!.map(({ isEstimate }) => isEstimate)).toEqual([true, true])
  })

  it('writes before it reads, so that totals know of every call', async () => {
    const { recorder, written } = setUp()
    recorder.record(event(1))
    await recorder.totals()
    expect(written).toHaveLength(1)
  })

  it('keeps what could not be written for the next time', async () => {
    const { recorder, written, faults } = setUp()
    faults.push(new Error('busy'))
    recorder.record(event(1))
    await recorder.flush()
    recorder.record(event(2))
    await recorder.flush()
    expect(written.map((records) => records.map(({ atMs }) => atMs))).toEqual([[1, 2]])
  })
})
