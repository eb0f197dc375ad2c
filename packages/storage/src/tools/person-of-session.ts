import type { Storage } from '../storage.js'

/** Whom a session serves: what its tools find is theirs alone. One that is not stored yet has found nothing, and is the owner's. */
export async function personOfSession(storage: Pick<Storage, 'sessions'>, sessionId: string): Promise<string | null> {
  return (await storage.sessions.get(sessionId))?.person ?? null
}
