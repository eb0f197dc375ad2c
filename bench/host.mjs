// Sessions of a host: a thousand of them opened with their agents, ten readers of one, and the bus between a run and who reads it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number, workspace: { directory: string, files: string[] }, server: object }} options */
export async function host({ rounds, workspace, server }) {
  const { files } = workspace
  const calls = files.map((path) => ({ tool: 'read_file', args: { path } }))
  await server.script({ turns: calls.length, calls })
  const samples = []
  for (let round = 0; round < rounds; round++) samples.push(await sample(round, { workspace, server, calls }))
  const of = (key) => samples.map((one) => one[key])
  return [
    row('1,000 sessions opened through a host', 'ms', of('openedMs'), atMost(1_000)),
    row('  an agent for each, processor time', 'ms', of('agentsMs'), atMost(1_000)),
    row('  memory of the process on top, after a collection', 'MB', of('mb'), atMost(120)),
    row('  of that alive', 'MB', of('liveMb')),
    row('  their child processes and file handles', '', of('left'), atMost(0)),
    row('ten readers of a session: of the processor time of its run', '%', of('readersPercent'), atMost(5)),
    row('the bus with one reader: a tool call', 'ms', of('busMs'), atMost(0.03)),
  ]
}

/** One process with a home of its own. */
async function sample(round, { workspace, server, calls }) {
  const home = join(workspace.directory, `host-${round}`)
  mkdirSync(home)
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--expose-gc', '--conditions=@hermes/source', `--import=${loader}`, join(folder, 'host/process.mjs')]
  const options = { home, cwd: workspace.directory, baseUrl: server.baseUrl, calls: calls.length }
  const child = spawn(process.execPath, [...args, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures a host ended with ${code}`)
  return JSON.parse(output)
}
