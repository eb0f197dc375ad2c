import type { NewSession, SessionInfo } from '@hermes/contracts/store'
import type { ForkSession } from '../storage.js'

/** What a fork takes over from the session it is made of. */
export function forkedSession(parent: SessionInfo, { id, title, source }: ForkSession): NewSession {
  const { person, model, provider, baseUrl, cwd } = parent
  return {
    id,
    source: source ?? parent.source,
    person,
    parentSessionId: parent.id,
    ...(title === undefined ? {} : { title }),
    ...(model === null ? {} : { model }),
    ...(provider === null ? {} : { provider }),
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(cwd === null ? {} : { cwd }),
  }
}
