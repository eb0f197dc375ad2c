import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeSnippet } from './snippet.js'

const whole = (text: string) => ({ text, isPrefix: false })
const prefix = (text: string) => ({ text, isPrefix: true })

describe('makeSnippet', () => {
  it('marks words in any case and with any accents, prefixes, phrases and parts of names', () => {
    expect(makeSnippet(['Café, CAFE, cafeteria'], [whole('cafe')])).toBe('>>>Café<<<, >>>CAFE<<<, cafeteria')
    expect(makeSnippet(['cafeteria'], [prefix('café')])).toBe('>>>cafeteria<<<')
    expect(makeSnippet(['the chat - send thing'], [whole('chat-send')])).toBe('the >>>chat - send<<< thing')
    expect(makeSnippet(['getUserById'], [whole('user')])).toBe('get>>>User<<<ById')
    expect(makeSnippet(['我们部署失败了'], [whole('部署')])).toBe('我们>>>部署<<<失败了')
  })

  it('shows where most terms stand together', () => {
    const text = `alpha ${'x '.repeat(400)}alpha beta ${'y '.repeat(400)}`
    expect(makeSnippet([text], [whole('alpha'), whole('beta')])).toContain('>>>alpha<<< >>>beta<<<')
  })

  it('takes the first text with a match, else the beginning of the first', () => {
    expect(makeSnippet([null, 'nothing', '{"command":"ls"}'], [whole('ls')])).toBe('{"command":">>>ls<<<"}')
    expect(makeSnippet(['nothing here'], [whole('ls')])).toBe('nothing here')
    expect(makeSnippet([null, ''], [whole('ls')])).toBe('')
  })

  it('is short, whatever the text, and says nothing the text does not', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2_000 }),
        fc.string({ unit: 'binary', minLength: 1 }),
        (text, word) => {
          const snippet = makeSnippet([text.toWellFormed()], [whole(word.toWellFormed()), prefix('a')])
          expect(snippet.length).toBeLessThan(2_000)
          if (!/[<>…]/.test(text)) expect(text.toWellFormed()).toContain(snippet.replaceAll(/>>>|<<<|…/g, ''))
        },
      ),
    )
  })
})
