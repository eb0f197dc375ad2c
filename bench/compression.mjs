// Compacting a session of 200,000 tokens, without the time of the model.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const TOKENS = 200_000

/** @param {{ rounds: number }} options */
export async function compression({ rounds }) {
  const samples = { check: [], prepass: [], whole: [], shareOfThreshold: [] }
  for (let round = 0; round <= rounds; round++) {
    const measured = await run({ tokens: TOKENS })
    if (round > 0) for (const name of Object.keys(samples)) samples[name].push(measured[name])
  }
  return [
    row('200,000 tokens: whether to compact, before each request', 'ms', samples.check),
    row('200,000 tokens: cut, cut down for the summariser', 'ms', samples.prepass, atMost(50)),
    row('200,000 tokens: compacted, without the model', 'ms', samples.whole, atMost(100)),
    row('what is left, of the threshold', '%', samples.shareOfThreshold, atMost(100)),
  ]
}

/** The first time in a process of its own, as when a long session is resumed. */
async function run(job) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'compression/process.mjs')]
  const child = spawn(process.execPath, [...args, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that compacts ended with ${code}`)
  return JSON.parse(output)
}
