// What a stop costs on each backend that can be had here, and what its commands leave behind. Those that cannot are named.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const BACKENDS = ['local', 'isolated', 'ssh', 'docker', 'singularity', 'modal', 'daytona', 'vercel_sandbox']

/** @param {{ rounds: number, workspace: { directory: string } }} options */
export async function backends({ rounds, workspace }) {
  const rows = []
  for (const backend of BACKENDS) {
    const found = await measure({ directory: join(workspace.directory, backend), rounds: Math.min(rounds, 5), backend })
    if (found.why !== undefined) {
      console.error(`bench: ${backend} is left out: ${found.why}`)
      continue
    }
    rows.push(
      row(`${backend}: a stop, until a tree that ignores SIGTERM is gone`, 'ms', found.goneMs, atMost(2_000)),
      row('  processes of it that are left', '', found.left, atMost(0)),
      row(`  zombies after ${found.commands} commands`, '', [found.zombies], atMost(0)),
      row('  handles and files left open', '', [found.open], atMost(0)),
    )
  }
  return rows
}

/** In a process of its own: handles of one backend must not count for another. */
async function measure(job) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'backends/process.mjs')]
  const child = spawn(process.execPath, [...args, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures ${job.backend} ended with ${code}`)
  return JSON.parse(output.trim().split('\n').at(-1))
}
