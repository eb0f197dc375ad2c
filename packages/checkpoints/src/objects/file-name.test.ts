import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeName, encodeName, parentName, printableName } from './file-name.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 100)

describe('decodeName', () => {
  it('gives a text for any bytes that stands for just these bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const name = decodeName(Buffer.from(bytes))
        expect([...encodeName(name)]).toEqual([...bytes])
        expect(JSON.parse(JSON.stringify(name))).toBe(name)
      }),
      { numRuns: RUNS },
    )
  })

  it('leaves Unicode as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeName(Buffer.from(text))).toBe(text)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('printableName', () => {
  it('shows what a terminal must not get as escapes', () => {
    expect(printableName('a\n"b" \\ \u001b[31m')).toBe('a\\n"b" \\ \\u001b[31m')
    expect(printableName(decodeName(Buffer.from([0x61, 0xff])))).toBe('a\\udcff')
  })
})

describe('parentName', () => {
  it.each([
    ['a', ''],
    ['a/b', 'a'],
    ['a/b/c', 'a/b'],
  ])('of %s is %j', (path, parent) => {
    expect(parentName(path)).toBe(parent)
  })
})
