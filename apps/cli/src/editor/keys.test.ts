import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKeyDecoder } from './keys.js'

const decode = (...pieces: readonly string[]) => {
  const decoder = createKeyDecoder()
  const inputs = pieces.flatMap((piece) => [...decoder.push(piece)])
  return [...inputs, ...decoder.flush()].map((input) => (input.type === 'key' ? input.key : input))
}

describe('createKeyDecoder', () => {
  it.each([
    ['\r', 'enter'],
    ['\n', 'ctrl+j'],
    ['\t', 'tab'],
    ['\u007F', 'backspace'],
    ['\u0003', 'ctrl+c'],
    ['\u001B', 'escape'],
    ['\u001F', 'ctrl+_'],
    ['\u001B[A', 'up'],
    ['\u001BOD', 'left'],
    ['\u001B[1;5C', 'ctrl+right'],
    ['\u001B[3~', 'delete'],
    ['\u001B[Z', 'shift+tab'],
    ['\u001Bs', 'alt+s'],
    ['\u001B\r', 'alt+enter'],
    ['\u001B\u007F', 'alt+backspace'],
    ['\u001B[13;2u', 'shift+enter'],
    ['\u001B[27;2;13~', 'shift+enter'],
    ['\u001B[99;5u', 'ctrl+c'],
  ])('reads %j as %s', (sequence, key) => {
    expect(decode(sequence)).toEqual([key])
  })

  it('keeps typed text together and in order with keys', () => {
    expect(decode('日本 a\u001B[D👩‍👩‍👧b\r')).toEqual([
      { type: 'text', text: '日本 a' },
      'left',
      { type: 'text', text: '👩‍👩‍👧b' },
      'enter',
    ])
  })

  it('takes a bracketed paste as one text, escape sequences in it included', () => {
    expect(decode('\u001B[200~one\r\ntwo\u001B[A\rthree\u001B[201~x')).toEqual([
      { type: 'paste', text: 'one\ntwo\u001B[A\nthree' },
      { type: 'text', text: 'x' },
    ])
  })

  it('ignores reports of the terminal', () => {
    expect(decode('\u001B[?62;c\u001B[Ia')).toEqual([{ type: 'text', text: 'a' }])
    expect(decode('\u001B]7501;?\u0007\u001B]75', '01;?\u001B', '\\a')).toEqual([{ type: 'text', text: 'a' }])
    expect(decode('\u001B]')).toEqual(['alt+]'])
    expect(decode('a\u001B]7501;')).toEqual([{ type: 'text', text: 'a' }])
    expect(decode('a\u001B[?2026;')).toEqual([{ type: 'text', text: 'a' }])
    expect(decode('\u001B[?2026;2$y\u001B[?20', '26;0$', 'ya')).toEqual([{ type: 'text', text: 'a' }])
  })

  it('reads the same keys however the bytes are cut', () => {
    const input = 'ab\u001B[1;5C\u001B[200~x\u001B[20y\r\n\u001B[201~\u001BOA\u001Bf日\r'
    const joined = (pieces: readonly string[]) =>
      decode(...pieces)
        .map((part) => (typeof part === 'string' ? `<${part}>` : part.type === 'paste' ? `{${part.text}}` : part.text))
        .join('')
    fc.assert(
      fc.property(fc.array(fc.nat(input.length), { maxLength: 8 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), input.length]
        const pieces = places.slice(1).map((end, index) => input.slice(places[index], end))
        expect(joined(pieces)).toBe('ab<ctrl+right>{x\u001B[20y\n}<up><alt+f>日<enter>')
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
  })
})

it('takes reports of the terminal about its focus for no key', () => {
  expect(createKeyDecoder().push('\u001B[I\u001B[Oa')).toEqual([{ type: 'text', text: 'a' }])
})
