import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openMemory } from './memory.js'
import { memorySection } from './prompt-section.js'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hermes-unconfirmed-'))
})
afterEach(() => rm(directory, { recursive: true }))

const open = () => openMemory({ directory })
const add = (content: string) => ({ action: 'add', content }) as const
const marked = async (target: 'memory' | 'user' = 'memory') => (await open().read(target)).unconfirmed

it('marks what a tainted session adds or rewords, and nothing else, until it is confirmed', async () => {
  await open().change('memory', [add('uses pnpm')], 's1')
  await open().change('memory', [add('reports go to x')], 's2', ['example.com'])
  await open().change('user', [add('likes tea')], 's2', ['example.com'])
  expect(await marked()).toEqual([{ entry: 'reports go to x', because: ['example.com'] }])
  await open().change('memory', [{ action: 'replace', oldText: 'pnpm', content: 'uses npm' }], 's3', ['b.example'])
  expect((await marked()).map(({ entry }) => entry)).toEqual(['uses npm', 'reports go to x'])
  expect((await stat(join(directory, '.unconfirmed.json'))).mode & 0o777).toBe(0o600)
  await open().confirm(['uses npm', 'likes tea'])
  expect((await marked()).map(({ entry }) => entry)).toEqual(['reports go to x'])
  expect(await marked('user')).toEqual([])
})

it('keeps the mark of an entry that comes back, and takes it off one that a person writes themselves', async () => {
  await open().change('memory', [add('reports go to x')], 's', ['example.com'])
  await open().change('memory', [{ action: 'remove', oldText: 'reports' }], 's')
  expect(await marked()).toEqual([])
  await open().undo()
  expect(await marked()).toHaveLength(1)
  await open().change('memory', [{ action: 'remove', oldText: 'reports' }], 's')
  await open().change('memory', [add('reports go to x')], 'command line')
  expect(await marked()).toEqual([])
})

it('says in the prompt section that entries wait, and takes every entry for one whose marks were lost', async () => {
  await open().change('memory', [add('uses pnpm'), add('tests with vitest')], 's')
  expect(await memorySection(open())).toMatchObject({ isUnconfirmed: false, problems: [] })
  await writeFile(join(directory, '.unconfirmed.json'), '{"entries": [')
  const section = await memorySection(open())
  expect(section).toMatchObject({ isUnconfirmed: true })
  expect(section.text).toContain('uses pnpm')
  expect(section.problems).toEqual([expect.stringMatching(/^2 notes of memory .* hermes memory confirm$/)])
  await open().confirm(['uses pnpm'])
  expect((await marked()).map(({ entry }) => entry)).toEqual(['tests with vitest'])
})
