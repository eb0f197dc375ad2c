import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { UsageError } from './errors.js'

/** The session that `-r` or `-c` means; `null` when neither was given. */
export async function chooseSession(
  storage: Storage,
  options: { readonly resume?: string; readonly continue?: boolean },
): Promise<SessionInfo | null> {
  if (options.resume !== undefined) return findSession(storage, options.resume)
  if (!options.continue) return null
  const latest = await storage.latestSession()
  if (!latest) throw new UsageError('There is no session to continue yet. Start one with: hermes')
  return latest
}

/** The session of that id, unique start of an id, or title; the newest for `latest`. */
export async function findSession(storage: Storage, name: string): Promise<SessionInfo> {
  const found = await storage.resolveSession(name)
  switch (found.type) {
    case 'found':
      return found.session
    case 'ambiguous':
      throw new UsageError(`"${name}" fits several sessions: ${describe(found.candidates)}. Give more of the id.`)
    case 'none': {
      const latest = name === 'latest' ? await storage.latestSession() : null
      if (latest) return latest
      const hint = found.nearest.length > 0 ? `Nearest: ${describe(found.nearest)}.` : 'See: hermes sessions list'
      throw new UsageError(`There is no session "${name}". ${hint}`)
    }
    default:
      return found satisfies never
  }
}

function describe(sessions: readonly SessionInfo[]): string {
  return sessions.map((session) => (session.title ? `${session.id} (${session.title})` : session.id)).join(', ')
}
