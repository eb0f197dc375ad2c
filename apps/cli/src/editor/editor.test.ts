import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEditorState, type EditorEffect, type EditorState, press, withText } from './editor.js'
import { createKeyDecoder, type KeyInput } from './keys.js'

const KEYS = /<([^>]+)>/g

/** Types text in which `<key>` stands for a key. */
function type(script: string, state = createEditorState()): { state: EditorState; effects: EditorEffect[] } {
  const effects: EditorEffect[] = []
  const inputs: KeyInput[] = []
  let last = 0
  for (const match of script.matchAll(KEYS)) {
    if (match.index > last) inputs.push({ type: 'text', text: script.slice(last, match.index) })
    inputs.push({ type: 'key', key: match[1]! })
    last = match.index + match[0].length
  }
  if (last < script.length) inputs.push({ type: 'text', text: script.slice(last) })
  for (const input of inputs) {
    const step = press(state, input)
    state = step.state
    if (step.effect.type !== 'none') effects.push(step.effect)
  }
  return { state, effects }
}

const line = (text: string) => ({ text, pastes: [] })
/** The line with `|` where the cursor is. */
const shown = ({ text, cursor }: EditorState) => `${text.slice(0, cursor)}|${text.slice(cursor)}`

describe('press', () => {
  it.each([
    ['abc<left><left>x', 'ax|bc'],
    ['one two three<alt+b><alt+b>', 'one |two three'],
    ['one two<ctrl+a><alt+f>', 'one| two'],
    ['one, two<ctrl+w>', 'one, |'],
    ['one two<ctrl+w><ctrl+a><ctrl+y>', 'two|one '],
    ['abc<ctrl+a><delete><ctrl+d>', '|c'],
    ['abc<left><ctrl+u>', '|c'],
    ['abc<left><ctrl+k>d', 'abd|'],
    ['日本👩‍👩‍👧<backspace>', '日本|'],
    ['é́x<left><left>', '|é́x'],
    ['one<alt+enter>two<ctrl+j>three', 'one\ntwo\nthree|'],
    ['one\\<enter>two', 'one\ntwo|'],
    ['abcd<ctrl+j>ef<up>', 'ab|cd\nef'],
    ['ab<ctrl+j>cdef<up><down>', 'ab\ncd|ef'],
    ['日本<ctrl+j>ab<up>', '日本|\nab'],
    ['one<ctrl+j>two<ctrl+a>x', 'one\nx|two'],
    ['one<ctrl+j><backspace>', 'one|'],
    ['one<ctrl+w><ctrl+_>', 'one|'],
    ['one<left>x<ctrl+_>', 'on|e'],
    ['one<left>x<ctrl+_><ctrl+/><ctrl+_>', '|'],
    ['one<enter>two<up><ctrl+_>', 'one|'],
    ['one<ctrl+s><ctrl+_>', '|'],
    ['a<escape><f9>b', 'ab|'],
  ])('turns %j into %j', (script, line) => {
    expect(shown(type(script).state)).toBe(line)
  })

  it('gives the line at Enter, remembers it once and begins anew', () => {
    const { state, effects } = type('one<enter>two<enter>one<enter><enter>  <enter>')
    expect(effects.map((effect) => effect.type === 'submit' && effect.text)).toEqual(['one', 'two', 'one'])
    expect(state.history).toEqual(['two', 'one'].map(line))
    expect(shown(state)).toBe('|')
  })

  it('walks through earlier lines and back to the one being written', () => {
    const earlier = createEditorState(['first', 'second'].map(line))
    expect(shown(type('new<up>', earlier).state)).toBe('second|')
    expect(shown(type('new<up><up><up>', earlier).state)).toBe('first|')
    expect(shown(type('new<up><up><down><down>', earlier).state)).toBe('new|')
    expect(shown(type('new<down>', earlier).state)).toBe('new|')
  })

  it('collapses a long paste, sends it whole, and takes it away with one key', () => {
    const lines = Array.from({ length: 7 }, (_, index) => `line ${index}`).join('\n')
    const pasted = press(type('see ').state, { type: 'paste', text: lines }).state
    expect(shown(pasted)).toBe('see [Pasted 7 lines #1]|')
    const sent = type('<enter>', pasted)
    expect(sent.effects).toMatchObject([
      { type: 'submit', text: `see ${lines}`, shown: 'see [Pasted 7 lines #1]', how: 'enter' },
    ])
    const recalled = type('<up>, again', sent.state).state
    expect(shown(recalled)).toBe('see [Pasted 7 lines #1], again|')
    expect(type('<enter>', recalled).effects).toMatchObject([{ text: `see ${lines}, again` }])
    expect(shown(type('<backspace>', pasted).state)).toBe('see |')
    expect(shown(press(type('').state, { type: 'paste', text: 'a\nb\tc\u0007' }).state)).toBe('a\nb    c|')
    expect(withText(createEditorState(), lines).text).toBe('[Pasted 7 lines #1]')
  })

  it('asks for what is not editing', () => {
    const types = (script: string) => type(script).effects.map(({ type }) => type)
    expect(types('<ctrl+c><ctrl+l><tab><ctrl+d><ctrl+z>')).toEqual([
      ...['interrupt', 'redraw', 'complete', 'end', 'suspend'],
    ])
    expect(types('x<ctrl+d>')).toEqual([])
    expect(types('x<escape><ctrl+r><ctrl+g><ctrl+x><ctrl+e>')).toEqual(['stop', 'search', 'edit', 'edit'])
    expect(types('<ctrl+x>x<ctrl+d>')).toEqual([])
    expect(type('hurry<alt+s>').effects).toMatchObject([
      { type: 'submit', text: 'hurry', shown: 'hurry', how: 'steer' },
    ])
  })

  it('puts a line aside and gives it back: at once when asked, or after the next one', () => {
    const aside = type('half a thought<ctrl+s>').state
    expect([shown(aside), aside.stash?.text]).toEqual(['|', 'half a thought'])
    expect(shown(type('<ctrl+s>', aside).state)).toBe('half a thought|')
    const after = type('quick question<enter>', aside).state
    expect([shown(after), after.stash]).toEqual(['half a thought|', null])
    expect(type('other<ctrl+s>', aside).state).toMatchObject({ text: 'half a thought', stash: { text: 'other' } })
  })

  it('keeps the cursor between whole characters whatever is pressed', () => {
    const pieces = fc.constantFrom(
      ...[
        'a ',
        '日',
        '👩‍👩‍👧',
        'é́',
        '\\',
        '\u001B[D',
        '\u001B[C',
        '\u001B[A',
        '\u001B[B',
        '\u007F',
        '\u0017',
        '\u0015',
      ],
      ...['\u0019', '\n', '\r', '\u001B[3~', '\u001Bb', '\u001Bf', '\u0001', '\u0005', '\u001B[200~x\ny\u001B[201~'],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (typed) => {
        const decoder = createKeyDecoder()
        let state = createEditorState(['earlier', '日本\n語'].map(line))
        for (const input of decoder.push(typed.join(''))) {
          state = press(state, input).state
          expect(state.cursor).toBeGreaterThanOrEqual(0)
          expect(state.cursor).toBeLessThanOrEqual(state.text.length)
          expect(state.text.slice(0, state.cursor).isWellFormed()).toBe(true)
        }
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 200) },
    )
  })
})
