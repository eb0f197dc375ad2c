import { HermesError } from '@hermes/contracts'

/** The session an operation needs does not exist. */
export function unknownSession(sessionId: string): HermesError {
  return new HermesError(`There is no session ${sessionId}.`, { code: 'store.unknown_session', details: { sessionId } })
}

export function sessionExists(sessionId: string): HermesError {
  return new HermesError(`Session ${sessionId} exists already.`, {
    code: 'store.session_exists',
    details: { sessionId },
  })
}

/** `sessionId`: who has the title; `null` when that is not known. */
export function titleTaken(sessionId: string | null, title: string): HermesError {
  const holder = sessionId === null ? 'Another session' : `Session ${sessionId}`
  return new HermesError(`${holder} has the title "${title}" already; choose another one.`, {
    code: 'store.title_taken',
    details: { ...(sessionId === null ? {} : { sessionId }), title },
  })
}
