import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyCompletion, commonBeginning, findCompletion } from './completion.js'
import { createEditorState, withText } from './editor.js'
import { createFileFinder } from './file-finder.js'

let temporary: TemporaryHome

beforeEach(async () => {
  temporary = await temporaryHome()
  await mkdir(join(temporary.path, 'src'), { recursive: true })
  for (const name of ['readme.md', 'résumé.md', 'my notes.txt', '.hidden', 'src/main.ts', 'src/mail.ts'])
    await writeFile(join(temporary.path, name), '')
})
afterEach(() => temporary.remove())

const COMMANDS = [
  { text: '/queue ', detail: 'say later' },
  { text: '/quit ', detail: 'leave', isWhole: true },
]
const SESSIONS = [
  { text: '20260102_a1', detail: '2026-01-02 10:00  Garden' },
  { text: '20260101_b2', detail: '2026-01-01 10:00  Kitchen' },
]

async function* list() {
  yield ['readme.md', 'résumé.md', 'my notes.txt']
  yield ['src/main.ts', 'src/mail.ts']
}

const find = (text: string, { cursor = text.length, paths = true } = {}) =>
  findCompletion(
    { ...withText(createEditorState(), text), cursor },
    {
      complete: async (line) =>
        /^\/\w*$/.test(line) ? COMMANDS : line.startsWith('/skill ') ? [{ text: 'deploy ' }, { text: 'notes ' }] : [],
      files: createFileFinder(list),
      sessions: async () => SESSIONS,
      cwd: temporary.path,
      userHome: temporary.path,
    },
    { paths },
  )
const candidates = async (text: string) => (await find(text))?.candidates.map((found) => found.text)

describe('findCompletion', () => {
  it('completes commands at the beginning of the line only, by their letters and by what they are for', async () => {
    expect(await candidates('/q')).toEqual(['/queue ', '/quit '])
    expect(await candidates('/qt')).toEqual(['/quit '])
    expect(await find('/leave')).toMatchObject({ candidates: [{ text: '/quit ' }], isSure: false })
    expect(await candidates('see /q')).toBeUndefined()
    expect(await candidates('first\n/q')).toBeUndefined()
  })

  it('completes skills behind a dollar sign, anywhere in the line', async () => {
    expect(await candidates('ship it as $')).toEqual(['$deploy ', '$notes '])
    expect(await find('ship it as $dep')).toMatchObject({
      type: 'skill',
      start: 11,
      candidates: [{ text: '$deploy ' }],
    })
    expect(await candidates('it costs $5')).toBeUndefined()
  })

  it.each([
    ['@fil', ['@file:']],
    ['@stag', ['@staged ']],
    ['see @file:src/ma', ['@file:src/mail.ts ', '@file:src/main.ts ']],
    ['@file:mn', ['@file:src/main.ts ', '@file:my\\ notes.txt ']],
    ['@folder:s', ['@folder:src/']],
    ['@mail', ['@file:src/mail.ts ']],
    ['@my\\ n', ['@file:my\\ notes.txt ']],
    ['@src', ['@folder:src/ ', '@file:src/main.ts ', '@file:src/mail.ts ']],
    ['@garden', ['@session:20260102_a1 ']],
    ['@session:kit', ['@session:20260101_b2 ']],
    ['look at src/ma', ['src/mail.ts ', 'src/main.ts ']],
    ['~/rea', ['~/readme.md ']],
    ['@~/rea', ['@file:~/readme.md ']],
    ['@file:.h', ['@file:.hidden ']],
    ['.h', ['.hidden ']],
  ])('completes %j', async (text, expected) => {
    expect((await candidates(text))?.filter((name) => !name.includes('.hermes')).toSorted()).toEqual(
      expected.toSorted(),
    )
  })

  it('offers what can be attached for a bare @, and marks nothing', async () => {
    const found = await find('@', { paths: false })
    expect(found?.isSure).toBe(false)
    expect(found?.candidates.map(({ text }) => text)).toEqual([
      ...['@file:', '@folder:', '@diff ', '@staged ', '@git:', '@session:', '@url:'],
      ...['@file:readme.md ', '@file:résumé.md ', '@file:my\\ notes.txt '],
      ...['@file:src/main.ts ', '@folder:src/ ', '@file:src/mail.ts '],
    ])
  })

  it('completes an absolute path, also at the beginning of the line, where paths are wanted', async () => {
    expect(await candidates(`${temporary.path}/rea`)).toEqual([`${temporary.path}/readme.md `])
    expect(await find('look at src/ma', { paths: false })).toBeNull()
  })

  it('offers nothing for an empty word, an unknown one and a folder that is not there', async () => {
    expect(await find('')).toBeNull()
    expect(await find('xyz')).toBeNull()
    expect(await find('@nowhere/')).toBeNull()
  })

  it('replaces the word up to the cursor', async () => {
    const state = { ...withText(createEditorState(), 'cat src/mai now'), cursor: 11 }
    const completion = (await find(state.text, { cursor: 11 }))!
    const applied = applyCompletion(state, completion, commonBeginning(completion.candidates))
    expect(applied.text).toBe('cat src/mai now')
    expect(applyCompletion(state, completion, completion.candidates[1]!.text).text).toBe('cat src/main.ts  now')
  })
})

describe('commonBeginning', () => {
  it.each([
    [['abc', 'abd'], 'ab'],
    [['a'], 'a'],
    [['a', 'b'], ''],
    [[], ''],
  ])('of %j is %j', (names, beginning) => {
    expect(commonBeginning(names.map((text) => ({ text })))).toBe(beginning)
  })
})
