import { beforeEach, describe, expect, it } from 'vitest'
import { createEditorState, type EditorState, withText } from '../editor/editor.js'
import { createFileFinder } from '../editor/file-finder.js'
import { CompletionMenu } from './completion-menu.js'

const key = (name: string) => ({ type: 'key', key: name }) as const
let menu: CompletionMenu
let line: EditorState | null
let draws: number

beforeEach(() => {
  draws = 0
  line = null
  const complete = async (text: string) => {
    if (/^\/\w*$/.test(text))
      return ['/new', '/next TEXT'].map((label) => ({
        text: `${label.split(' ')[0]} `,
        label,
        isWhole: label === '/new',
      }))
    if (text.startsWith('/skill ')) return [{ text: 'five-5 ' }]
    return text.startsWith('/next') ? [{ text: 'high ' }, { text: 'low ' }] : []
  }
  const files = createFileFinder(async function* () {
    yield ['notes.md', 'novel.md']
  })
  menu = new CompletionMenu(
    { complete, files, sessions: async () => [], cwd: '/nowhere', userHome: '/nowhere' },
    (state) => {
      draws++
      if (state) line = state
    },
  )
})

/** A line as it was typed, once the menu has looked at it. */
async function typed(text: string): Promise<EditorState> {
  const state = withText(createEditorState(), text)
  const before = draws
  menu.open(state)
  if (/[/@$]/.test(text)) await expect.poll(() => draws).toBeGreaterThan(before)
  return state
}
const shown = () => menu.shown?.completion.candidates.map(({ label, text }) => label ?? text)

describe('the menu', () => {
  it('opens by itself for commands and references and for nothing else', async () => {
    await typed('/ne')
    expect(shown()).toEqual(['/new', '/next TEXT'])
    await typed('see @no')
    expect(shown()).toEqual(['notes.md', 'novel.md'])
    await typed('see notes')
    expect(menu.shown).toBeNull()
  })

  it('takes the marked one with Enter, and sends the line where it is whole', async () => {
    const whole = await typed('/ne')
    expect(menu.press(whole, key('enter'))).toMatchObject({ type: 'line', state: { text: '/new ' }, isSent: true })
    const next = await typed('/nex')
    expect(menu.press(next, key('enter'))).toMatchObject({ state: { text: '/next ' }, isSent: false })
    const file = await typed('see @nov')
    expect(menu.press(file, key('enter'))).toMatchObject({ state: { text: 'see @file:novel.md ' }, isSent: false })
  })

  it.each(['/new', '/', '@', '/next hi'])('leaves Enter to the line at %j until one is gone to', async (text) => {
    const state = await typed(text)
    expect(menu.shown).not.toBeNull()
    expect(menu.press(state, key('enter'))).toBeNull()
    expect(menu.press(state, key('down'))).toEqual({ type: 'moved' })
    expect(menu.press(state, key('enter'))).toMatchObject({ type: 'line' })
  })

  it('leaves keys to a line that it has not looked at yet', async () => {
    await typed('/ne')
    const newer = withText(createEditorState(), '/nex')
    menu.open(newer)
    expect(menu.press(withText(createEditorState(), '/next'), key('enter'))).toBeNull()
  })

  it('goes round with arrows, and Tab takes', async () => {
    const state = await typed('/ne')
    menu.press(state, key('up'))
    expect(menu.shown?.at).toBe(1)
    menu.press(state, key('down'))
    expect(menu.shown?.at).toBe(0)
    expect(menu.press(state, key('tab'))).toMatchObject({ state: { text: '/new ' }, isSent: false })
  })

  it('stays closed for a word after Escape, and opens for the next one', async () => {
    const state = await typed('@no')
    expect(menu.press(state, key('escape'))).toEqual({ type: 'moved' })
    menu.open(withText(createEditorState(), '@not'))
    expect(menu.shown).toBeNull()
    await typed('@not @no')
    expect(menu.shown).not.toBeNull()
  })

  it('completes with Tab as far as there is no choice', async () => {
    await menu.complete(withText(createEditorState(), 'see @n'))
    expect([line?.text, shown()]).toEqual(['see @n', ['notes.md', 'novel.md']])
    await menu.complete(withText(createEditorState(), '/next h'))
    expect([line?.text, menu.shown]).toEqual(['/next high ', null])
  })
})
