import { describe, expect, it } from 'vitest'
import { BurstLimit, WatchLimits } from './watch-limits.js'

describe('limits of watching', () => {
  it('tells once in fifteen seconds and stops after the eighth time', () => {
    const limits = new WatchLimits(new BurstLimit())
    const verdicts = Array.from({ length: 9 }, (_, index) => limits.judge(index * 15_000))
    expect(verdicts).toEqual([...Array.from({ length: 8 }, () => 'tell'), 'stop'])
  })

  it('stops in the third crowded window in a row, and forgets about those before a quiet one', () => {
    const limits = new WatchLimits(new BurstLimit())
    const at = [0, 1, 2, 15_000, 15_001, 30_000, 45_000, 45_001, 60_000, 60_001, 75_000, 75_001]
    const expected = [
      'tell',
      'quiet',
      'quiet',
      'tell',
      'quiet',
      'tell',
      'tell',
      'quiet',
      'tell',
      'quiet',
      'tell',
      'stop',
    ]
    expect(at.map((nowMs) => limits.judge(nowMs))).toEqual(expected)
  })

  it('keeps quiet for half a minute after fifteen notices in ten seconds', () => {
    const burst = new BurstLimit()
    const take = (nowMs: number) => new WatchLimits(burst).judge(nowMs)
    expect(Array.from({ length: 16 }, () => take(0)).filter((verdict) => verdict === 'tell')).toHaveLength(15)
    expect([take(29_999), take(30_000)]).toEqual(['quiet', 'tell'])
  })
})
