import type { SessionInfo } from '@hermes/contracts/store'
import { distance } from 'fastest-levenshtein'
import type { PersonFilter } from '../person-filter.js'
import type { ListSessionsOptions, SessionResolution } from '../storage.js'
import { cleanTitle, numberedTitle, splitTitle } from './title.js'

const MAX_CANDIDATES = 10
const MAX_NEAREST = 3
const NEAREST_AMONG = 500

/** What is asked of a store to find a session by what a person calls it. */
export interface SessionLookup {
  get(id: string): Promise<SessionInfo | null>
  /** Newest activity first. */
  list(options: ListSessionsOptions): Promise<readonly SessionInfo[]>
  /** `base` and `base #2`, `base #3` …, newest activity first. */
  lineage(base: string, filter?: PersonFilter): Promise<readonly SessionInfo[]>
  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number, filter?: PersonFilter): Promise<readonly SessionInfo[]>
}

/** What a person means by `text`. */
export async function resolveSession(
  lookup: SessionLookup,
  text: string,
  filter: PersonFilter = {},
): Promise<SessionResolution> {
  const sameId = await lookup.get(text)
  if (sameId && (filter.person === undefined || sameId.person === filter.person))
    return { type: 'found', session: sameId }
  const lineage = await lookup.lineage(text, filter)
  const exact = lineage.find(({ title }) => title === text) ?? (lineage.length === 1 ? lineage[0] : undefined)
  if (exact) return { type: 'found', session: exact }
  if (lineage.length > 1) return { type: 'ambiguous', candidates: lineage.slice(0, MAX_CANDIDATES) }
  const candidates = text === '' ? [] : await lookup.withPrefix(text, MAX_CANDIDATES, filter)
  if (candidates.length === 1) return { type: 'found', session: candidates[0]! }
  if (candidates.length > 1) return { type: 'ambiguous', candidates }
  return { type: 'none', nearest: await nearest(lookup, text.toLowerCase(), filter) }
}

/** The first title of the lineage of `base` that no session has. */
export async function nextTitle(lookup: Pick<SessionLookup, 'lineage'>, base: string): Promise<string> {
  const root = splitTitle(cleanTitle(base) ?? '').base
  const numbers = (await lookup.lineage(root)).map(({ title }) => splitTitle(title ?? '').number)
  if (numbers.length === 0) return root
  let number = Math.max(...numbers) + 1
  // A long base is cut to fit its number, and then another lineage may be in the way.
  while ((await lookup.lineage(numberedTitle(root, number))).length > 0) number++
  return numberedTitle(root, number)
}

async function nearest(lookup: SessionLookup, wanted: string, filter: PersonFilter): Promise<readonly SessionInfo[]> {
  const sessions = await lookup.list({ ...filter, limit: NEAREST_AMONG, includeEmpty: true })
  return sessions
    .map((session) => ({ session, far: howFar(wanted, session) }))
    .sort((left, right) => left.far - right.far)
    .slice(0, MAX_NEAREST)
    .map(({ session }) => session)
}

function howFar(wanted: string, { id, title }: SessionInfo): number {
  const names = title === null ? [id.toLowerCase()] : [id.toLowerCase(), title.toLowerCase()]
  if (wanted !== '' && names.some((name) => name.includes(wanted))) return 0
  return Math.min(...names.map((name) => distance(wanted, name)))
}
