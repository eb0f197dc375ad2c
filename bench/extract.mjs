// Pages as Markdown: an article of 83 kB beside what the libraries take alone, and how much of thirty saved pages is what a reader wants.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atLeast, atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function extract({ rounds }) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'extract/process.mjs')]
  const child = spawn(process.execPath, [...args, JSON.stringify({ rounds })], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures pages ended with ${code}`)
  const { first, ours, alone, found, other, foundAlone, otherAlone } = JSON.parse(output)
  return [
    row('an article of 83 kB as Markdown, processor time', 'ms', ours, atMost(200)),
    row('  the first page of a process', 'ms', first),
    row('  linkedom, Readability and turndown alone', 'ms', alone),
    row('30 saved pages: wanted words that are there', '%', found, atLeast(95)),
    row('  others', '%', other, atMost(5)),
    row('  Readability alone: wanted words', '%', foundAlone),
    row('  others', '%', otherAlone),
  ]
}
