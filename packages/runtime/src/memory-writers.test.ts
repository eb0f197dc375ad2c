// Eight processes and a person with an editor at the same file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'

const WRITERS = 8
const OPERATIONS = Math.max(80, Number(process.env['HERMES_TEST_RUNS'] ?? 0))
const HAND_EDITS = Math.ceil(OPERATIONS / 10)
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
    if (byHand.length % 2 === 0) await appendFile(file, `\n§\n${entry}\n`)
    else await editSlowly(file, entry)
    byHand.push(entry)
    await sleep(5)
  }
  const saved = (await Promise.all(writers)).flat()
  // What an editor took away comes back with the next change.
  saved.push(...(await remember(home.path, 'last', 1)))

  expect(saved).toHaveLength(WRITERS * EACH + 1)
  const entries = (await readFile(file, 'utf8')).split(/^§$/m).map((entry) => entry.trim())
  expect([...saved, ...byHand, 'the first entry'].filter((entry) => !entries.includes(entry))).toEqual([])
  expect(entries).toHaveLength(new Set(entries).size)
}, 300_000)

/** As an editor does that was open for a moment: what was saved meanwhile is not in its text. */
async function editSlowly(file: string, entry: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await sleep(15)
  await writeFile(`${file}.swp`, `${text.trimEnd()}\n§\n${entry}\n`)
  await rename(`${file}.swp`, file)
}

async function remember(home: string, name: string, count = EACH): Promise<readonly string[]> {
  const fixtures = join(import.meta.dirname, '__fixtures__')
  const child = spawn(
    process.execPath,
    [
      '--conditions=@hermes/source',
      `--import=${join(fixtures, 'load-sources.mjs')}`,
      join(fixtures, 'remember.mjs'),
      ...[home, name, `${count}`],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  expect(await once(child, 'close')).toEqual([0, null])
  return lines
}
