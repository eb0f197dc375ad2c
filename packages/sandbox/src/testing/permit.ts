import { HermesError } from '@hermes/contracts'
import type { Action, Permit } from '@hermes/contracts/policy'

/** A permit for tests of environments: good for `action`, once. Records whether it was used. */
interface TestPermit extends Permit {
  readonly used: boolean
}

/** Makes a permit as a policy would. Not for programs: nothing was decided. */
export function testPermit(action: Action): TestPermit {
  let used = false
  const permit = {
    action,
    get used() {
      return used
    },
    consume(wanted: Action) {
      if (used) throw new HermesError('This permit was used already.', { code: 'policy.permit_used' })
      if (JSON.stringify(Object.entries(wanted).sort()) !== JSON.stringify(Object.entries(action).sort())) {
        const message = `Permitted was ${JSON.stringify(action)}, not ${JSON.stringify(wanted)}.`
        throw new HermesError(message, { code: 'policy.permit_mismatch' })
      }
      used = true
    },
  }
  return permit as unknown as TestPermit
}
