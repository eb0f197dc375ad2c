// A source of tools that changes while sessions run.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { atMost, row } from './report.mjs'

/** @param {{ rounds: number }} options */
export async function sources({ rounds }) {
  const loader = join(import.meta.dirname, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const script = join(import.meta.dirname, 'sources/process.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, script, String(rounds)]
  const { reachedMs } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  return [row('a source of 2,000 tools changes: until 20 open sessions call one', 'ms', reachedMs, atMost(50))]
}
