import type { RecallFence } from '@hermes/safety'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRecallScrubber, scrubMessage, scrubRecalled } from './recall-scrubber.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 300)
const FENCES: readonly RecallFence[] = [
  { open: '<memory-context 0f0f>', close: '</memory-context 0f0f>' },
  { open: '<memory-context>\n[Recalled', close: '</memory-context>' },
]
const BLOCK = '<memory-context 0f0f>\n- likes tea < coffee\n</memory-context 0f0f>'

function inPieces(text: string, cuts: readonly number[]): string {
  const scrubber = createRecallScrubber(FENCES)
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
      expect(inPieces(text, cuts)).toBe(scrubRecalled(text, FENCES))
      expect(inPieces(text, cuts)).not.toContain('likes tea')
    }),
    { numRuns: RUNS },
  )
})

it('drops a block that never ends, and gives back what only looked like the beginning of one', () => {
  expect(inPieces('x <memory-context 0f0f>secret', [5, 9])).toBe('x ')
  expect(inPieces('a <memory-cont', [4])).toBe('a <memory-cont')
})

it.each([
  'The fence `<memory-context>` begins a block, </memory-context> ends it. More.',
  '<memory-context 0e0e>not ours</memory-context 0e0e>',
  '<memory-context>\n- not ours\n</memory-context>',
])('leaves %j alone', (text) => {
  expect(scrubRecalled(text, FENCES)).toBe(text)
  expect(inPieces(text, [3, 20, 30])).toBe(text)
})

it('takes blocks of older versions out, known by their first line', () => {
  expect(inPieces('x <memory-context>\n[Recalled from]\n- tea\n</memory-context> y', [5, 19, 25])).toBe('x  y')
})

it('takes blocks out of thoughts and arguments too, and keeps what goes back byte for byte', () => {
  const replay = { stamp: { provider: 'p', endpoint: 'e', model: 'm' }, data: `sealed ${BLOCK}` }
  const args = { path: 'a', lines: [`x ${BLOCK} y`, 1] }
  const call = { type: 'tool-call', id: 'c', name: 'n', args, rawArgs: JSON.stringify(args) } as const
  const content = [{ type: 'reasoning', text: `a ${BLOCK}`, replay } as const, call, { ...call, args: null }]
  const left = { path: 'a', lines: ['x  y', 1] }
  expect(scrubMessage({ role: 'assistant', content }, FENCES).content).toEqual([
    { type: 'reasoning', text: 'a ', replay },
    { ...call, args: left, rawArgs: JSON.stringify(left) },
    { ...call, args: null, rawArgs: expect.not.stringContaining('likes tea') },
  ])
  const plain = { role: 'assistant', content: [{ type: 'text', text: '<memory-context>' }] } as const
  expect(scrubMessage(plain, FENCES)).toBe(plain)
})
