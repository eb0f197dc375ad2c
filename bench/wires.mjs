// What the wires cost: decoding a recorded stream beside the SDK of the wire alone, and repairing a long conversation.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname

/** @param {{ rounds: number }} options */
export async function wires({ rounds }) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'wires/process.mjs'), String(rounds)]
  const { wires: measured, repairMs } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  return [
    ...Object.entries(measured).flatMap(([name, { sdk, ours }]) => [
      row(`${name}: the SDK alone`, 'ms', sdk),
      row(`${name}: hermes`, 'ms', ours),
      row(
        '  over the SDK',
        'x',
        ours.map((ms, round) => ms / sdk[round]),
        atMost(1.25),
      ),
    ]),
    row('200 messages made valid', 'ms', repairMs, atMost(1)),
  ]
}
