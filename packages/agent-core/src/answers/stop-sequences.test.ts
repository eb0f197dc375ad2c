import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutAtStop, StopCutter } from './stop-sequences.js'

const drawn = (options: fc.StringConstraints) => fc.string({ unit: fc.constantFrom('a', 'b', '\n'), ...options })

it('cuts a text in pieces where it cuts the whole, whatever the pieces are', () => {
  fc.assert(
    fc.property(
      fc.array(drawn({ maxLength: 6 }), { maxLength: 8 }),
      fc.array(drawn({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      (pieces, stops) => {
        const cutter = new StopCutter(stops)
        const parts = pieces.map((piece) => cutter.feed(piece))
        const whole = parts.join('') + cutter.end()
        expect(whole).toBe(cutAtStop(pieces.join(''), stops))
        for (const stop of stops) expect(whole).not.toContain(stop)
      },
    ),
  )
})

it('gives what no stop can begin with at once', () => {
  const cutter = new StopCutter(['END', 'E'.repeat(3)])
  expect([
    cutter.feed('The E'),
    cutter.feed('agle E'),
    cutter.feed('ND is'),
    cutter.feed(' here'),
    cutter.end(),
  ]).toEqual(['The ', 'Eagle ', '', '', ''])
})
