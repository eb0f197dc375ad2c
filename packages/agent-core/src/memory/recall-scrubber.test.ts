import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRecallScrubber, scrubRecalled } from './recall-scrubber.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 300)
const BLOCK = '<memory-context>\n- likes tea < coffee\n</memory-context>'

function inPieces(text: string, cuts: readonly number[]): string {
  const scrubber = createRecallScrubber()
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
  const shown = places.slice(1).map((place, index) => scrubber.feed(text.slice(places[index], place)))
  return shown.join('') + scrubber.flush()
}

it('takes a block out at every cut into two pieces', () => {
  const text = `before ${BLOCK} after <memory of>`
  for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [cut])).toBe('before  after <memory of>')
})

it('shows the same however the stream is cut, and never what is in a block', () => {
  const piece = fc.constantFrom('a', ' <', '</', '<memory', '<memory-context', '>', 'text', BLOCK, `${BLOCK}${BLOCK}`)
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(400), { maxLength: 20 }), (pieces, cuts) => {
      const text = pieces.join('')
      expect(inPieces(text, cuts)).toBe(scrubRecalled(text))
      expect(inPieces(text, cuts)).not.toContain('likes tea')
    }),
    { numRuns: RUNS },
  )
})

it('drops a block that never ends, and gives back what only looked like the beginning of one', () => {
  expect(inPieces('x <memory-context>secret', [5, 9])).toBe('x ')
  expect(inPieces('a <memory-cont', [4])).toBe('a <memory-cont')
})
