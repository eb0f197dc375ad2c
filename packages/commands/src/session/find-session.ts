import type { SessionInfo } from '@hermes/contracts/store'
import { type ListSessionsOptions, MARKS, type Storage } from '@hermes/storage'
import { usageError } from './parameters.js'

/**
 * The session of that id, title, or unique start of an id; the newest of any folder for `latest`.
 * @throws HermesError `command.usage` naming what is near.
 */
export async function findSession(storage: Pick<Storage, 'sessions'>, name: string): Promise<SessionInfo> {
  const found = await storage.sessions.resolve(name)
  switch (found.type) {
    case 'found':
      return found.session
    case 'ambiguous':
      throw usageError(
        `"${name}" fits several sessions: ${describeSessions(found.candidates)}. Give the id or the whole title.`,
      )
    case 'none': {
      const latest = name === 'latest' ? await storage.sessions.latest({ person: null }) : null
      if (latest) return latest
      const hint =
        found.nearest.length > 0 ? `Nearest: ${describeSessions(found.nearest)}.` : 'See: hermes sessions list'
      throw usageError(`There is no session "${name}". ${hint}`)
    }
    default:
      return found satisfies never
  }
}

/** A session as lists of the person show it. */
export interface ShownSession extends SessionInfo {
  readonly isPinned: boolean
}

/** Sessions for lists: pinned ones first, then the newest. `limit` counts those that are not pinned. */
export async function shownSessions(
  { sessions }: Pick<Storage, 'sessions'>,
  filter: ListSessionsOptions,
): Promise<readonly ShownSession[]> {
  const marked = (isPinned: boolean) => (session: SessionInfo) => ({ ...session, isPinned })
  if (filter.tag !== undefined) return (await sessions.list(filter)).map(marked(filter.tag === MARKS.pinned))
  const pinned = await sessions.list({ ...filter, tag: MARKS.pinned, limit: Number.MAX_SAFE_INTEGER })
  const others = await sessions.list({ ...filter, withoutTag: MARKS.pinned })
  return [...pinned.map(marked(true)), ...others.map(marked(false))]
}

/** Ids with their titles, for a line. */
export function describeSessions(sessions: readonly SessionInfo[]): string {
  return sessions.map((session) => (session.title ? `${session.id} (${session.title})` : session.id)).join(', ')
}

/** What a session is about and when it was used last, for a list. */
export function describeSession({ title, preview, lastActiveAtMs }: SessionInfo): string {
  return `${toMinute(lastActiveAtMs)}  ${title ?? preview}`
}

/** A time for lists: UTC, to the minute. */
export function toMinute(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
}
