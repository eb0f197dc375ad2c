// Several processes and a person with an editor at the same file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'

const IS_FULL = process.env['HERMES_TEST_RUNS'] !== undefined
const WRITERS = IS_FULL ? 8 : 3
const OPERATIONS = Math.max(40, Number(process.env['HERMES_TEST_RUNS'] ?? 0))
const HAND_EDITS = Math.ceil(OPERATIONS / 4)
const KILLS = Math.max(4, Math.ceil(OPERATIONS / 40))
const EACH = Math.ceil((OPERATIONS - HAND_EDITS) / WRITERS)

it(`loses nothing of ${WRITERS} processes and of hand edits, ${OPERATIONS} operations in all`, async () => {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const file = join(home.path, 'memories', 'MEMORY.md')
  await mkdir(join(home.path, 'memories'))
  await writeFile(file, 'the first entry\n')

  let running = WRITERS
  const writers = Array.from({ length: WRITERS }, async (_, index) => {
    const saved = await remember(home.path, `w${index}`)
    running--
    return saved
  })
  const byHand: string[] = []
  while (running > 0 && byHand.length < HAND_EDITS) {
    // Of words of its own: what shares them with an entry of a moment before would be taken for its rewording.
    const entry = `hand${byHand.length}`
    await EDITORS[byHand.length % EDITORS.length]!(file, entry)
    byHand.push(entry)
    // Two within a moment, then a rest.
    if (byHand.length % 2 === 0) await sleep(5)
  }
  const saved = (await Promise.all(writers)).flat()
  // What an editor took away comes back with the next change.
  saved.push(...(await remember(home.path, 'last', 1)))

  expect(saved).toHaveLength(WRITERS * EACH + 1)
  const entries = (await readFile(file, 'utf8')).split(/^§$/m).map((entry) => entry.trim())
  expect([...saved, ...byHand, 'the first entry'].filter((entry) => !entries.includes(entry))).toEqual([])
  expect(entries).toHaveLength(new Set(entries).size)
}, 300_000)

/** What people and their programs do to a file; the text that they change may be older than what is there. */
const EDITORS: readonly ((file: string, entry: string) => Promise<void>)[] = [
  (file, entry) => appendFile(file, `\n§\n${entry}\n`),
  async (file, entry) => {
    const text = await readThere(file)
    await sleep(15)
    await writeFile(`${file}.swp`, `${text.trimEnd()}\n§\n${entry}\n`)
    await rename(`${file}.swp`, file)
  },
  async (file, entry) => {
    const text = await readThere(file)
    await writeFile(file, `${text.trimEnd()}\n§\n${entry}\n`)
  },
  async (file, entry) => {
    const handle = await open(file, 'a')
    await sleep(30)
    await handle.write(`\n§\n${entry}\n`)
    await handle.close()
  },
]

/** Nobody begins to edit in the few microseconds in which there is no file. */
async function readThere(file: string): Promise<string> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text !== '') return text
  }
}

it('loses nothing that was saved when writers are killed at any moment', async () => {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const saved: string[] = []
  for (let round = 0; round < KILLS; round++) {
    const child = startWriter(home.path, `k${round}`, 1_000)
    const lines = createInterface(child.stdout)
    let heard = 0
    lines.on('line', (line) => {
      saved.push(line)
      // At once, a little later, …: what comes next is another step of the next change each time.
      if (++heard === 2) setTimeout(() => child.kill('SIGKILL'), round * 2)
    })
    await once(child, 'close')
  }
  saved.push(...(await remember(home.path, 'last', 1)))
  const entries = (await readFile(join(home.path, 'memories', 'MEMORY.md'), 'utf8')).split(/^§$/m)
  const there = new Set(entries.map((entry) => entry.trim()))
  expect(saved.filter((entry) => !there.has(entry))).toEqual([])
  expect(saved.length).toBeGreaterThan(2 * KILLS)
}, 300_000)

function startWriter(home: string, name: string, count: number) {
  const fixtures = join(import.meta.dirname, '../__fixtures__')
  return spawn(
    process.execPath,
    [
      '--conditions=@hermes/source',
      `--import=${join(fixtures, '../../../testkit/src/__fixtures__/load-sources.mjs')}`,
      join(fixtures, 'remember.mjs'),
      ...[home, name, `${count}`],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
}

async function remember(home: string, name: string, count = EACH): Promise<readonly string[]> {
  const child = startWriter(home, name, count)
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  expect(await once(child, 'close')).toEqual([0, null])
  return lines
}
