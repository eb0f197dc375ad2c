// Who wants out of the isolation: probes written from the README and decision 0012 alone, judged from outside.
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { ISOLATION_PROBES } from './isolation/probes.js'
import { runProbes } from './isolation/run.js'
import { KNOWN_HOLES } from './known-holes.js'

needs(missingPrograms('bwrap', 'git'))('isolated commands', () => {
  it('let no probe change, read, reach or end anything outside', async () => {
    const results = await runProbes(ISOLATION_PROBES)
    expect(results).toHaveLength(ISOLATION_PROBES.length)
    const open = results.filter(({ holes }) => holes.length > 0)
    const text = open.map(({ id, title, holes }) => `${id} ${title}: ${holes.join('; ')}`).join('\n')
    expect(open.map(({ id }) => id).sort(), text).toEqual(KNOWN_HOLES.isolation.toSorted())
  }, 300_000)
})
