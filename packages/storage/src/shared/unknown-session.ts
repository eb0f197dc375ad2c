import { HermesError } from '@hermes/contracts'

/** The session an operation needs does not exist. */
export function unknownSession(sessionId: string): HermesError {
  return new HermesError(`There is no session ${sessionId}.`, { code: 'store.unknown_session', details: { sessionId } })
}
