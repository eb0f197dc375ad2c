import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestBytes } from './request-bytes.js'

describe('the bytes of a request', () => {
  it('are those of JSON.stringify, also when parts of it were written before', () => {
    const item = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.constant(undefined), fc.object())
    const body = fc.dictionary(fc.string(), fc.oneof(item, fc.array(item), fc.constant(null)))
    fc.assert(
      fc.property(body, (value) => {
        for (let time = 0; time < 2; time++) expect(requestBytes(value).toString()).toBe(asUtf8(JSON.stringify(value)))
      }),
    )
  })

  it('hold a list that grew as what it was before and more', () => {
    const messages = [{ role: 'user', content: 'é' }]
    const before = requestBytes({ model: 'm', messages }).toString()
    const after = requestBytes({ model: 'm', messages: [...messages, { role: 'assistant', content: null }] }).toString()
    expect(after).toBe(`${before.slice(0, -2)},{"role":"assistant","content":null}]}`)
  })
})

/** Halves of surrogate pairs have no UTF-8. */
function asUtf8(text: string): string {
  return Buffer.from(text).toString()
}
