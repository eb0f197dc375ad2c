// What hooks cost a tool call: an agent without any, with as many handlers as come with Hermes, and with 50 observers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function extensions({ rounds }) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--expose-gc', '--conditions=@hermes/source', `--import=${loader}`]
  const program = [...args, join(folder, 'extensions/process.mjs'), JSON.stringify({ rounds })]
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures hooks ended with ${code}`)
  const { builtIn, observers, setup, slowest } = JSON.parse(output)
  return [
    row('hooks: a tool call, with as many handlers as come with Hermes', 'ms', builtIn, atMost(0.03)),
    row('  with 50 observers', 'ms', observers, atMost(0.2)),
    row('setting up all extensions that an agent has by default', 'ms', setup, atMost(1)),
    row('  the slowest of those of a home, which loads no third-party module', 'ms', slowest, atMost(1)),
  ]
}
