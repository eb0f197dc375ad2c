import { HARMLESS_PLACES } from './harmless.js'
import { isCredentialName } from './names.js'
import { CREDENTIAL_PLACES, type CredentialPlace } from './places.js'

export { CREDENTIAL_HEAD_BYTES, holdsCredential } from './contents.js'
export { HARMLESS_PLACES } from './harmless.js'
export { isCredentialName, isKeyFile, isWorkFile } from './names.js'
export { CREDENTIAL_PLACES, type CredentialPlace } from './places.js'

/** What is known of a path below a home folder: a named place of credentials, one that nothing vouches for, or nothing to hide. */
type HomePlace =
  | { readonly type: 'credential'; readonly place: CredentialPlace }
  | { readonly type: 'unknown'; readonly folder: string }
  | { readonly type: 'named'; readonly name: string }
  | { readonly type: 'plain' }

const PLAIN: HomePlace = Object.freeze({ type: 'plain' })
const BY_PATH: ReadonlyMap<string, CredentialPlace> = new Map(
  CREDENTIAL_PLACES.map((place) => [place.path.toLowerCase(), place]),
)
const SOMETIMES = CREDENTIAL_PLACES.flatMap(({ path, when }) => (when === 'holds-keys' ? [path] : []))
const HARMLESS: ReadonlySet<string> = new Set([...HARMLESS_PLACES, ...SOMETIMES].map((path) => path.toLowerCase()))
/** How many names the longest path of the tables has. */
const DEEPEST = Math.max(...[...BY_PATH.keys(), ...HARMLESS].map((path) => path.split('/').length))
/** Folders that are hidden and have harmless ones in them. */
const ABOVE_HARMLESS: ReadonlySet<string> = new Set(HARMLESS_PLACES.flatMap((path) => above(path.toLowerCase())))

/**
 * What is known of `path`, relative to the home folder, without `..`; letter case makes no difference. On macOS `Library` counts as if it
 * began with a dot.
 */
export function homePlaceOf(path: string, { isMacOs = false }: { readonly isMacOs?: boolean } = {}): HomePlace {
  const lower = path.toLowerCase().replace(/\/+$/, '')
  const known = credentialPlaceOf(lower)
  if (known?.when === 'holds-keys') return PLAIN
  if (known) return isPlainIn(known, lower) ? PLAIN : { type: 'credential', place: known }
  const steps = [...above(lower), lower]
  const isHarmless = steps.some((step) => HARMLESS.has(step))
  // A folder around harmless ones may be looked at, though not everything in it.
  if (isPrivateName(lower, isMacOs) && !isHarmless && !ABOVE_HARMLESS.has(lower))
    return { type: 'unknown', folder: steps[0]! }
  return isCredentialName(lower) ? { type: 'named', name: lower.slice(lower.lastIndexOf('/') + 1) } : PLAIN
}

function credentialPlaceOf(path: string): CredentialPlace | null {
  const lower = path.toLowerCase().replace(/\/+$/, '')
  const steps = [...above(lower), lower].reverse()
  return steps.map((step) => BY_PATH.get(step)).find((place) => place !== undefined) ?? null
}

/** Whether something directly in the home folder is hidden unless something vouches for it. */
export function isPrivateName(name: string, isMacOs: boolean): boolean {
  return name.startsWith('.') || (isMacOs && /^library(?:\/|$)/i.test(name))
}

/** Whether nothing in the home folder at `path`, or in it, has to stay hidden as a whole; `around`: something harmless is in it. */
export function vouchedFor(path: string): 'harmless' | 'around' | 'none' {
  const lower = path.toLowerCase()
  if (HARMLESS.has(lower)) return 'harmless'
  return ABOVE_HARMLESS.has(lower) ? 'around' : 'none'
}

function isPlainIn({ path, plain }: CredentialPlace, lower: string): boolean {
  return plain?.test(lower.slice(path.length + 1)) ?? false
}

/** The folders above a relative path, the outermost first, as deep as a table names any. */
function above(path: string): string[] {
  const parts = path.split('/', DEEPEST + 1)
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'))
}
