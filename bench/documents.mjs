// Small documents: what a process of its own for each costs beside reading it in this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const NAMES = { pdf: 'a PDF of 0.6 kB', docx: 'a Word document of one page' }

/** @param {{ rounds: number }} options */
export async function documents({ rounds }) {
  const measured = []
  for (let round = 0; round < rounds; round++) measured.push(await measure())
  return Object.entries(NAMES).flatMap(([kind, name]) => {
    const values = (of) => measured.map((figures) => of(figures[kind]))
    return [
      row(
        `${name} in a process of its own, over reading it here`,
        'ms',
        values(({ apart, first }) => apart - first),
        atMost(100),
      ),
      row(
        '  in a process of its own',
        'ms',
        values(({ apart }) => apart),
      ),
      row(
        '  here, which loads the library',
        'ms',
        values(({ first }) => first),
      ),
      row(
        '  here once more',
        'ms',
        values(({ again }) => again),
      ),
    ]
  })
}

/** A process that has read none yet: both ways load the library that reads. */
async function measure() {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'documents/process.mjs')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures documents ended with ${code}`)
  return JSON.parse(output)
}
