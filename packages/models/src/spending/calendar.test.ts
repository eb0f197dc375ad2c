import { knownTimeZone } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { periodOf } from './calendar.js'

const at = (text: string) => Date.parse(text)
const shown = ({ startMs, endMs }: { startMs: number; endMs: number }) =>
  [startMs, endMs].map((ms) => new Date(ms).toISOString())

describe('periodOf', () => {
  it('gives the day by the clocks of a place', () => {
    expect(shown(periodOf('day', at('2026-03-01T20:00:00Z'), 'Asia/Tokyo'))).toEqual([
      '2026-03-01T15:00:00.000Z',
      '2026-03-02T15:00:00.000Z',
    ])
  })

  it('knows days of 23 and 25 hours', () => {
    expect(shown(periodOf('day', at('2026-03-29T12:00:00Z'), 'Europe/Berlin'))).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(shown(periodOf('day', at('2026-10-25T12:00:00Z'), 'Europe/Berlin'))).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
  })

  it('gives the month, over the end of a year too', () => {
    expect(shown(periodOf('month', at('2026-12-31T23:30:00Z'), 'UTC'))).toEqual([
      '2026-12-01T00:00:00.000Z',
      '2027-01-01T00:00:00.000Z',
    ])
    expect(periodOf('month', at('2026-12-31T23:30:00Z'), 'Europe/Berlin').startMs).toBe(at('2026-12-31T23:00:00Z'))
  })
})

describe('knownTimeZone', () => {
  it('keeps a name that is known and takes that of the machine for others', () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
    expect(knownTimeZone('Asia/Tokyo')).toBe('Asia/Tokyo')
    for (const name of ['', 'Middle/Earth']) expect(knownTimeZone(name)).toBe(timeZone)
  })
})
