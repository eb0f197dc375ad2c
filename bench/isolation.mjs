// One command of the terminal: bare, by the local environment, and held to the workspace.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const COMMANDS_PER_ROUND = 20

/** @param {{ rounds: number, workspace: { directory: string } }} options */
export async function isolation({ rounds, workspace }) {
  accessSync('/usr/bin/bwrap')
  const job = { directory: join(workspace.directory, 'isolation'), rounds: rounds * COMMANDS_PER_ROUND }
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const run = async (script, options) => {
    const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'isolation', script)]
    const child = spawn(process.execPath, [...args, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    if (code !== 0) throw new Error(`the process that runs commands ended with ${code}`)
    return JSON.parse(output)
  }
  const { bare, plain, isolated } = await run('process.mjs', job)
  const many = await run('many.mjs', { directory: join(workspace.directory, 'many'), rounds })
  const over = (values, floor) => values.map((value, index) => value - floor[index])
  return [
    row('bash -c true: bare spawn', 'ms', bare),
    row('terminal "true": local', 'ms', plain),
    row('  over a bare spawn', 'ms', over(plain, bare), atMost(10)),
    row('terminal "true": isolated', 'ms', isolated),
    row('  over not isolated', 'ms', over(isolated, plain), atMost(15)),
    row('50 bare spawns at once: p95', 'ms', many.bare),
    row('50 sessions, the first command of each at once: p95', 'ms', many.isolated),
    row(
      '  times the bare spawns',
      'x',
      many.isolated.map((value, index) => value / many.bare[index]),
    ),
    row('  the event loop is held meanwhile, at most', 'ms', many.held),
  ]
}
