import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createEditorState, type EditorEffect, type EditorState, press } from './editor.js'
import { graphemes } from './graphemes.js'
import { VI_BEGIN } from './vi.js'

/** Types text, in which `⎋` is Escape and `↵` Enter, a character at a time. */
function type(script: string): { readonly state: EditorState; readonly effects: readonly EditorEffect[] } {
  const effects: EditorEffect[] = []
  let state = createEditorState([{ text: 'earlier', pastes: [] }], VI_BEGIN)
  for (const character of script) {
    const key = { '⎋': 'escape', '↵': 'enter' }[character]
    const step = press(state, key ? { type: 'key', key } : { type: 'text', text: character })
    state = step.state
    if (step.effect.type !== 'none') effects.push(step.effect)
  }
  return { state, effects }
}
const shown = ({ text, cursor }: EditorState) => `${text.slice(0, cursor)}|${text.slice(cursor)}`

it.each([
  ['one two⎋', 'one tw|o'],
  ['one two⎋b', 'one |two'],
  ['one two⎋0w', 'one |two'],
  ['one two⎋0e', 'on|e two'],
  ['  one⎋0', '|  one'],
  ['  one⎋^', '  |one'],
  ['one two three⎋02wi.', 'one two .|three'],
  ['one two⎋bdw', 'one| '],
  ['one two three⎋0dw', '|two three'],
  ['one two three⎋02dw', '|three'],
  ['one two three⎋0d2w', '|three'],
  ['one two⎋0cwsix', 'six| two'],
  ['one two⎋bciwsix', 'one six|'],
  ['one two⎋0daw', '|two'],
  ['one two⎋dd', '|'],
  ['one two⎋0D', '|'],
  ['one two⎋ccx', 'x|'],
  ['one two⎋bC2', 'one 2|'],
  ['abc⎋0xp', 'b|ac'],
  ['ab⎋yyp', 'aba|b'],
  ['abc⎋0rx', '|xbc'],
  ['abc⎋02~', 'A|bc'],
  ['abc⎋0xxuu', '|abc'],
  ['one⎋ciwtwo⎋u', 'on|e'],
  ['b⎋ia⎋', '|ab'],
  ['a⎋Ab', 'ab|'],
  ['b⎋Ia', 'a|b'],
  ['a⎋ob⎋', 'a\n|b'],
  ['b⎋Oa⎋', '|a\nb'],
  ['a⎋ob⎋dd', '|a'],
  ['日本👩‍👩‍👧⎋x', '日|本'],
  ['a⎋d⎋x', '|'],
  ['a⎋qQz', '|a'],
])('turns %j into %j', (script, line) => {
  expect(shown(type(script).state)).toBe(line)
})

it('sends with Enter in both modes and begins with inserting again', () => {
  const { state, effects } = type('one⎋↵two↵')
  expect(effects.map((effect) => effect.type === 'submit' && effect.text)).toEqual(['one', 'two'])
  expect(state.vi).toEqual(VI_BEGIN)
})

it('stops with Escape in normal mode, finds earlier lines, and goes to another editor', () => {
  expect(type('a⎋').effects).toEqual([])
  expect(type('a⎋⎋/v').effects).toEqual([{ type: 'stop' }, { type: 'search' }, { type: 'edit' }])
  expect(shown(type('new⎋k').state)).toBe('earlier|')
  expect(shown(type('new⎋kj').state)).toBe('new|')
})

it('keeps the cursor between whole characters of the line, whatever is typed', () => {
  const sign = fc.constantFrom(...'abc 日é👩⎋↵0^$wbehlxXdcyiaoOpPuDCr~23', '👩‍👩‍👧')
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 60 }), (signs) => {
      const { state } = type(signs.join(''))
      expect(state.cursor).toBeGreaterThanOrEqual(0)
      expect(state.cursor).toBeLessThanOrEqual(state.text.length)
      expect(state.text.isWellFormed()).toBe(true)
      const before = graphemes(state.text.slice(0, state.cursor)).length
      const after = graphemes(state.text.slice(state.cursor)).length
      // Joined, the two halves are as many characters as apart.
      expect(graphemes(state.text).length).toBe(before + after)
    }),
  )
})
