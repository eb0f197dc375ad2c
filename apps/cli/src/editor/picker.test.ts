import { describe, expect, it } from 'vitest'
import type { KeyInput } from './keys.js'
import { createPicker, type PickAnswer, type PickRequest, pressPicker } from './picker.js'

const COLOURS: PickRequest = { title: 'Which?', options: [{ label: 'red' }, { label: 'blue' }], freeText: true }
const APPROVAL: PickRequest = {
  title: 'Really?',
  options: [
    { label: 'yes', key: 'y' },
    { label: 'no', key: 'n' },
  ],
  freeText: false,
}

function answer(request: PickRequest, ...pressed: readonly (KeyInput | string)[]): PickAnswer | null {
  let state = createPicker(request)
  for (const input of pressed) {
    const next = pressPicker(state, typeof input === 'string' ? { type: 'key', key: input } : input)
    if ('type' in next) return next
    state = next
  }
  return null
}
const text = (value: string): KeyInput => ({ type: 'text', text: value })

describe('pressPicker', () => {
  it('moves with arrows, around both ends, and picks with Enter', () => {
    expect(answer(APPROVAL, 'enter')).toEqual({ type: 'option', index: 0 })
    expect(answer(APPROVAL, 'down', 'enter')).toEqual({ type: 'option', index: 1 })
    expect(answer(APPROVAL, 'down', 'down', 'enter')).toEqual({ type: 'option', index: 0 })
    expect(answer(APPROVAL, 'up', 'enter')).toEqual({ type: 'option', index: 1 })
  })

  it('takes several together that Space has marked, in their order', () => {
    const several = { ...COLOURS, isSeveral: true }
    expect(answer(several, 'down', text(' '), 'up', text(' '), 'enter')).toEqual({ type: 'several', indexes: [0, 1] })
    expect(answer(several, text(' '), text(' '), 'enter')).toEqual({ type: 'option', index: 0 })
    expect(answer(COLOURS, text(' '), 'enter')).toBeNull()
  })

  it('picks at once with a letter or a number, and ignores others', () => {
    expect(answer(APPROVAL, text('n'))).toEqual({ type: 'option', index: 1 })
    expect(answer(APPROVAL, text('Y'))).toEqual({ type: 'option', index: 0 })
    expect(answer(COLOURS, text('2'))).toEqual({ type: 'option', index: 1 })
    expect(answer(APPROVAL, text('x'), text('3'), text('yes'), { type: 'paste', text: 'y' })).toBeNull()
  })

  it('gives no answer at Escape and Ctrl-C', () => {
    for (const key of ['escape', 'ctrl+c', 'ctrl+d']) expect(answer(COLOURS, key)).toEqual({ type: 'none' })
  })

  it('takes other text where that is allowed, numbers in it included', () => {
    expect(answer(COLOURS, text('green 1'), text('2'), 'backspace', 'enter')).toEqual({ type: 'text', text: 'green 1' })
    expect(answer(COLOURS, 'down', 'down', text('2'), 'enter')).toEqual({ type: 'text', text: '2' })
    expect(answer({ title: 'Name?', options: [], freeText: true }, 'enter', text('y'), 'enter')).toEqual({
      type: 'text',
      text: 'y',
    })
  })

  it('narrows many options to those with all words, and moves among them', () => {
    const labels = ['2026-01-02  Garden', '2026-01-01  Kitchen', '2025-12-31  Garden shed']
    const many: PickRequest = {
      title: 'Which?',
      options: labels.map((label) => ({ label })),
      freeText: false,
      isSearch: true,
    }
    expect(answer(many, 'down', 'enter')).toEqual({ type: 'option', index: 1 })
    expect(answer(many, text('shed GARD'), 'enter')).toEqual({ type: 'option', index: 2 })
    expect(answer(many, text('garden'), 'ctrl+r', 'down', 'enter')).toEqual({ type: 'option', index: 2 })
    expect(answer(many, text('1'), text('x'), 'enter')).toBeNull()
    expect(answer(many, text('x'), 'backspace', text('kit'), 'enter')).toEqual({ type: 'option', index: 1 })
    expect(answer(many, text('kit'), 'escape')).toEqual({ type: 'none' })
  })
})
