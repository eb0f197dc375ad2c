import type { SessionInfo } from '@hermes/contracts/store'
import { distance } from 'fastest-levenshtein'
import type { SessionResolution } from '../storage.js'
import type { Queries } from './queries.js'
import type { Sessions } from './sessions.js'
import { cleanTitle, numberedTitle, splitTitle } from './title.js'

const MAX_CANDIDATES = 10
const MAX_NEAREST = 3
const NEAREST_AMONG = 500

/** Inside a transaction: what a person means by `text`. */
export function resolveSession(sessions: Sessions, queries: Queries, text: string): SessionResolution {
  const exact = sessions.find(text) ?? queries.lineage(text)[0]
  if (exact) return { type: 'found', session: exact }
  const candidates = text === '' ? [] : queries.withPrefix(text, MAX_CANDIDATES)
  if (candidates.length === 1) return { type: 'found', session: candidates[0]! }
  if (candidates.length > 1) return { type: 'ambiguous', candidates }
  return { type: 'none', nearest: nearest(queries, text.toLowerCase()) }
}

/** Inside a transaction: the first title of the lineage of `base` that no session has. */
export function nextTitle(queries: Queries, base: string): string {
  const root = splitTitle(cleanTitle(base) ?? '').base
  const numbers = queries.lineage(root).map(({ title }) => splitTitle(title ?? '').number)
  if (numbers.length === 0) return root
  let number = Math.max(...numbers) + 1
  // A long base is cut to fit its number, and then another lineage may be in the way.
  while (queries.lineage(numberedTitle(root, number)).length > 0) number++
  return numberedTitle(root, number)
}

function nearest(queries: Queries, wanted: string): SessionInfo[] {
  return queries
    .list({ limit: NEAREST_AMONG, includeEmpty: true })
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
