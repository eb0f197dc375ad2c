import { createExtensionRegistry } from '@hermes/agent-core'
import { silentLogger } from '@hermes/contracts'
import type { DoctorCheck, Extension } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { extensionFindings } from './extensions.js'

it('a check that throws at once, or gives nothing, is one line; the others are looked at', async () => {
  const runs: Readonly<Record<string, DoctorCheck['run']>> = {
    throws: () => {
      throw new Error('no moon\n today')
    },
    nothing: () => undefined as never,
    fine: () => [{ level: 'ok', text: 'well' }],
  }
  const of = ([name, run]: readonly [string, DoctorCheck['run']]): Extension => ({
    name,
    setup: (api) => void api.doctor.check({ name: `${name}-check`, run }),
  })
  const extensions = createExtensionRegistry(Object.entries(runs).map(of), { logger: silentLogger })
  expect(await extensionFindings({ extensions }, { isOffline: true })).toEqual([
    { level: 'fail', text: 'throws: throws-check could not be looked at: no moon today' },
    { level: 'fail', text: expect.stringContaining('nothing: nothing-check could not be looked at: ') },
    { level: 'ok', text: 'fine: well' },
  ])
})
