import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHistory, type History } from './history.js'

let temporary: TemporaryHome
let file: string
let history: History

const line = (text: string) => ({ text, pastes: [] })

beforeEach(async () => {
  temporary = await temporaryHome()
  file = join(temporary.path, 'new', 'history.jsonl')
  history = createHistory({ file, logger: silentLogger })
})
afterEach(() => temporary.remove())

it('keeps lines in order, each once, in a file nobody else reads', async () => {
  expect(await history.load()).toEqual([])
  for (const text of ['one', 'two\nlines', 'one', '日本']) await history.add(line(text))
  expect(await history.load()).toEqual(['two\nlines', 'one', '日本'].map(line))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

it('keeps what was pasted apart from what was typed', async () => {
  const pasted = {
    text: 'see [Pasted 9 lines #1]',
    pastes: [{ placeholder: '[Pasted 9 lines #1]', text: 'a\n'.repeat(9) }],
  }
  await history.add(pasted)
  expect(await history.load()).toEqual([pasted])
})

it('keeps the newest thousand and makes the file small again', async () => {
  await history.add(line('first'))
  const many = Array.from({ length: 2500 }, (_, index) => `${JSON.stringify(`line ${index}`)}\n`).join('')
  await writeFile(file, many)
  const lines = await history.load()
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([1000, line('line 1500'), line('line 2499')])
  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(1000)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

it('neither reads nor writes what is no file, and may never end', async () => {
  await mkdir(dirname(file))
  await symlink('/dev/zero', file)
  await history.add(line('one'))
  expect(await history.load()).toEqual([])
})

it('leaves out what is damaged or very long', async () => {
  await history.add(line('good'))
  await history.add(line('x'.repeat(20_001)))
  await writeFile(file, `${await readFile(file, 'utf8')}"cut off\n{}\nnull\n{"text":"x","pastes":[1]}\n`)
  await history.add(line('better'))
  expect(await history.load()).toEqual(['good', 'better'].map(line))
})

it('does without a file that cannot be there', async () => {
  const lost = createHistory({ file: join(temporary.path, 'file', 'history'), logger: silentLogger })
  await writeFile(join(temporary.path, 'file'), '')
  await lost.add(line('one'))
  expect(await lost.load()).toEqual([])
})
