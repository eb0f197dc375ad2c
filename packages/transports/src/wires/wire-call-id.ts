const STRICT: CallIdForm = { maxChars: 64 }
const HASH_CHARS = 12

/** The form of call ids that a server takes, beside letters, digits, `_` and `-`. */
interface CallIdForm {
  readonly maxChars: number
  /** Ids have that very length, letters and digits only. */
  readonly exactly?: boolean
}

/**
 * The id of a call in the form that strict servers take: letters, digits, `_` and `-`, 64 at most unless told otherwise. Ids that have
 * it stay as they are; of others what fits is kept and a hash makes them unique, the same each time.
 */
export function wireCallId(id: string, { maxChars, exactly = false }: CallIdForm = STRICT): string {
  if (exactly ? id.length === maxChars && /^[a-z\d]+$/i.test(id) : /^[\w-]+$/.test(id) && id.length <= maxChars)
    return id
  // Loaded here and not above, since few conversations come from a server with other ids.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256').update(id).digest('hex')
  if (exactly) return hash.slice(0, maxChars)
  const kept = id.replace(/[^\w-]/g, '_').slice(0, Math.min(40, maxChars - HASH_CHARS - 1))
  return `${kept}_${hash.slice(0, HASH_CHARS)}`
}
