// Who wants out of the isolation: probes written from the README and decision 0012 alone, judged from outside. One run takes every sixth,
// drawn by HERMES_TEST_SEED; with HERMES_TEST_RUNS, all.
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { ISOLATION_PROBES } from './isolation/probes.js'
import { runProbes } from './isolation/run.js'
import { KNOWN_HOLES } from './known-holes.js'

const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
const probes = ISOLATION_PROBES.filter(
  (_, index) => process.env['HERMES_TEST_RUNS'] !== undefined || (index + SEED) % 6 === 0,
)
const known = KNOWN_HOLES.isolation.filter((hole) => probes.some(({ id }) => id === hole))

needs(missingPrograms('bwrap', 'git'))('isolated commands', () => {
  it('let no probe change, read, reach or end anything outside', async () => {
    const results = await runProbes(probes)
    expect(results).toHaveLength(probes.length)
    const open = results.filter(({ holes }) => holes.length > 0)
    const text = open.map(({ id, title, holes }) => `${id} ${title}: ${holes.join('; ')}`).join('\n')
    expect(open.map(({ id }) => id).sort(), text).toEqual(known.toSorted())
  }, 300_000)
})
