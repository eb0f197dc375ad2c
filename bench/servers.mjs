// What servers and plugins of others cost: a call of an MCP server beside the bare SDK, and a hook in the process of a plugin.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ratios } from './measure.mjs'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function servers({ rounds }) {
  const loader = join(folder, '../packages/storage/src/__fixtures__/load-sources.mjs')
  const program = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'servers/process.mjs')]
  const child = spawn(process.execPath, [...program, JSON.stringify({ rounds })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that measures servers ended with ${code}`)
  const { call, hook, echo } = JSON.parse(output)
  return [
    row(
      'MCP: a call through registry, policy and durable log, 64 at once, over the bare SDK',
      'ms',
      call,
      atMost(0.15),
    ),
    row('a hook in the process of a plugin, p95', 'ms', hook, atMost(0.5)),
    row('  over a bare process that writes lines back', 'x', ratios(hook, echo)),
  ]
}
