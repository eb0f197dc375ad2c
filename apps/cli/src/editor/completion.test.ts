import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyCompletion, commonBeginning, findCompletion } from './completion.js'
import { createEditorState, withText } from './editor.js'

let temporary: TemporaryHome

beforeEach(async () => {
  temporary = await temporaryHome()
  await mkdir(join(temporary.path, 'src'), { recursive: true })
  for (const name of ['readme.md', 'résumé.md', 'my notes.txt', '.hidden', 'src/main.ts', 'src/mail.ts'])
    await writeFile(join(temporary.path, name), '')
})
afterEach(() => temporary.remove())

const find = (text: string, cursor = text.length) =>
  findCompletion(
    { ...withText(createEditorState(), text), cursor },
    {
      complete: async (line) => ['/queue ', '/quit '].filter((name) => name.startsWith(line)),
      cwd: temporary.path,
      userHome: temporary.path,
    },
  )
const candidates = async (text: string) => (await find(text))?.candidates

describe('findCompletion', () => {
  it('completes commands at the beginning of the line only', async () => {
    expect(await candidates('/q')).toEqual(['/queue ', '/quit '])
    expect(await candidates('see /q')).toBeUndefined()
  })

  it.each([
    ['@f', ['@file:', '@folder:']],
    ['@st', ['@staged ']],
    ['see @file:src/ma', ['@file:src/mail.ts ', '@file:src/main.ts ']],
    ['@file:my', ['@file:my\\ notes.txt ']],
    ['@folder:', ['@folder:src/']],
    [
      '@',
      [
        ...['@diff ', '@file:', '@folder:', '@git:', '@my\\ notes.txt ', '@readme.md ', '@résumé.md '],
        ...['@session:', '@src/', '@staged ', '@url:'],
      ],
    ],
    ['look at src/ma', ['src/mail.ts ', 'src/main.ts ']],
    ['@r', ['@readme.md ', '@résumé.md ']],
    ['@my\\ n', ['@my\\ notes.txt ']],
    ['~/rea', ['~/readme.md ']],
    ['.h', ['.hidden ']],
  ])('completes %j', async (text, expected) => {
    expect((await candidates(text))?.filter((name) => !name.includes('.hermes'))).toEqual(expected)
  })

  it('completes an absolute path, also at the beginning of the line', async () => {
    expect(await candidates(`${temporary.path}/rea`)).toEqual([`${temporary.path}/readme.md `])
  })

  it('offers nothing for an empty word, an unknown one and a folder that is not there', async () => {
    expect(await find('')).toBeNull()
    expect(await find('xyz')).toBeNull()
    expect(await find('@nowhere/')).toBeNull()
  })

  it('replaces the word up to the cursor', async () => {
    const state = { ...withText(createEditorState(), 'cat src/mai now'), cursor: 11 }
    const completion = (await find(state.text, 11))!
    const applied = applyCompletion(state, completion, commonBeginning(completion.candidates))
    expect(applied.text).toBe('cat src/mai now')
    expect(applyCompletion(state, completion, completion.candidates[1]!).text).toBe('cat src/main.ts  now')
  })
})

describe('commonBeginning', () => {
  it.each([
    [['abc', 'abd'], 'ab'],
    [['a'], 'a'],
    [['a', 'b'], ''],
    [[], ''],
  ])('of %j is %j', (names, beginning) => {
    expect(commonBeginning(names)).toBe(beginning)
  })
})
