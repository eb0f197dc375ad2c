// File and shell tools on much: a file of a gigabyte, a hundred thousand files, a thousand commands.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atLeast, atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number, workspace: { directory: string } }} options */
export async function tools({ rounds, workspace }) {
  const run = (part) => runPart({ directory: join(workspace.directory, part), rounds, part })
  const [large, search] = [await run('large'), await run('search')]
  const [parallel, commands] = [await run('parallel'), await run('commands')]
  const [stop, flood] = [await run('interrupt'), await run('flood')]
  return [
    row('read_file of 1 GB: first page', 'ms', large.first, atMost(50)),
    row('  a deep page, the first time, over wc -l', 'x', large.deepOverWc, atMost(4)),
    row('  a deep page after that', 'ms', large.again, atMost(50)),
    row('  memory on top', 'MiB', large.memoryMib, atMost(30)),
    row('search_files in 100,000 files, over rg', 'x', search.overRg, atMost(1.2)),
    row('  without rg, over rg', 'x', search.withoutOverRg, atMost(4)),
    row('8 slow reads at once: how many overlap', '', parallel.overlap, atLeast(8)),
    row('zombies after 1,000 commands', '', [commands.zombies], atMost(0)),
    row('  handles and files left open', '', [commands.left], atMost(0)),
    row('stopped: tools that begin afterwards', '', stop.laterStarts, atMost(0)),
    row('  until a tree of processes is gone', 'ms', stop.goneMs, atMost(2_000)),
    row('  until one that ignores SIGTERM is gone', 'ms', stop.stubbornGoneMs, atMost(2_000)),
    row('a command that writes 1 GB: memory on top', 'MiB', flood.memoryMib, atMost(250)),
    row('  characters of it the model is shown', '', flood.chars, atMost(60_000)),
  ]
}

/** In a process of its own: one part must not weigh on the memory and handles of another. */
async function runPart(job) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--expose-gc', '--conditions=@hermes/source', `--import=${loader}`, join(folder, 'tools/process.mjs')]
  const child = spawn(process.execPath, [...args, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures ${job.part} ended with ${code}`)
  return JSON.parse(output)
}
