import { expect, it } from 'vitest'
import { createEditorState, withText } from '../editor/editor.js'
import { createPicker } from '../editor/picker.js'
import { createStyle } from '../render/style.js'
import { drawFooter } from './footer.js'

const BAR = {
  ...{ model: 'm', contextTokens: null, contextWindow: null, cost: null, modes: [], title: null },
  ...{ folder: '~/work', branch: null },
}
const style = createStyle({ isTTY: true, colors: false } as never)
const draw = (more: Partial<Parameters<typeof drawFooter>[0]> = {}) =>
  drawFooter({
    ...{ status: ['Working'], picker: null, editor: withText(createEditorState([], null), 'hi'), menu: null },
    ...{ bar: BAR, columns: 40, rows: 24, style },
    ...more,
  })

it('has the line in a frame: status above it, the bar as its lower edge, as wide as that but for a long one', () => {
  const { rows, cursor } = draw()
  expect(rows).toEqual(['Working', '╭──', '> hi', '╰ m'])
  expect(cursor).toEqual({ row: 2, column: 4 })
  const wide = draw({ bar: { ...BAR, folder: 'x'.repeat(40) }, columns: 120 })
  expect(wide.rows[1]).toBe(`╭${'─'.repeat(39)}`)
})

it('has a question in the same frame', () => {
  const picker = createPicker({ title: 'Really?', options: [{ label: 'yes', key: 'y' }], freeText: false })
  const { rows } = draw({ picker })
  expect([rows[0], rows.at(-1)]).toEqual(['╭──', '╰ m'])
})

it.each([
  ['a narrow screen', { columns: 16 }, ['Working', '> hi']],
  ['a screen without the bar', { bar: null }, ['Working', '> hi']],
  ['a low screen', { rows: 11 }, ['Working', '> hi', '╰ m']],
])('has no frame on %s', (_name, more, expected) => {
  expect(draw(more).rows).toEqual(expected)
})
