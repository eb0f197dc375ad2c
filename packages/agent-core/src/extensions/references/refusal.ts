import { HermesError } from '@hermes/contracts'

/** Why a reference is not attached, for the person who made it. */
export function refusal(reason: string): HermesError {
  return new HermesError(reason, { code: 'agent.reference_refused' })
}
