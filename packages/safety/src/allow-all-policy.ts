import type { Policy } from '@hermes/contracts/policy'
import { createPermit } from './permit.js'

/**
 * Allows everything, without a hard floor: for programs that pass in their own tools and answer for them. Permits are single-use all
 * the same. Abort denies.
 */
export function createAllowAllPolicy(): Policy {
  return Object.freeze({
    decide: async (action, _subject, options) =>
      options?.signal?.aborted
        ? { type: 'deny', rule: 'aborted', reason: 'The call was stopped.' }
        : options?.ask
          ? { type: 'deny', rule: options.ask.rule, reason: `${options.ask.reason} Nobody can be asked here.` }
          : { type: 'allow', permit: createPermit(action) },
    settled: async () => ({ type: 'deny', rule: 'unknown-approval', reason: 'Nothing was asked under this id.' }),
    answer: async () => false,
    listen: () => () => undefined,
  } satisfies Policy)
}
