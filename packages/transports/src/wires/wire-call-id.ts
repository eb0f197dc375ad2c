const MAX_CHARS = 64
const KEPT_CHARS = 40
const HASH_CHARS = 12

/**
 * The id of a call in the form that strict servers take: letters, digits, `_` and `-`. Ids of other servers that have it stay as they are; of
 * others what fits is kept and a hash makes it unique, the same each time.
 */
export function wireCallId(id: string): string {
  if (/^[\w-]+$/.test(id) && id.length <= MAX_CHARS) return id
  // Loaded here and not above, since few conversations come from a server with other ids.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_CHARS)
  return `${id.replace(/[^\w-]/g, '_').slice(0, KEPT_CHARS)}_${hash}`
}
