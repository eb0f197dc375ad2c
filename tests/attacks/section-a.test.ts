// Tries on what the policy, grants, config.yaml, documents, logs and tools of a session promise, written without a look at their code.
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { KNOWN_HOLES } from './known-holes.js'
import { runSuite } from './section-a/run-tools.js'
import { TABLE_TRIES } from './section-a/table-tries.js'
import { TOOL_SUITES } from './section-a/tools-tries.js'

it('nothing gets past the policy, grants, config.yaml and what is shown', async () => {
  const open: Record<string, string> = {}
  for (const { id, title, run } of TABLE_TRIES) {
    const hole = await run()
    if (hole !== null) open[id] = `${title}: ${hole}`
  }
  expect(Object.keys(open).sort(), JSON.stringify(open, null, 2)).toEqual(KNOWN_HOLES.tables.toSorted())
}, 120_000)

needs(missingPrograms('bwrap', 'git', 'curl'))('tools of a session', () => {
  it.each(TOOL_SUITES)(
    '$name: nothing gets through',
    async (suite) => {
      const open = await runSuite(suite)
      const ids = suite.tries.map(({ id }) => id)
      expect(Object.keys(open).sort(), JSON.stringify(open, null, 2)).toEqual(
        KNOWN_HOLES.tools.filter((id) => ids.includes(id)).sort(),
      )
    },
    120_000,
  )
})
