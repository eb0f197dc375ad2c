const MIN_CHARS = 6

/** The marker that stands where a secret was. */
export const REDACTED = '[REDACTED]'

/** What is longer is no value of a variable, and is looked for as it is alone. */
const MAX_FORMED_CHARS = 131_072

/** How a secret may be written: as it is, in JSON, in a URL, in base64 at any place of a longer text. Empty for short values. */
export function formsOf(secret: string): readonly string[] {
  const value = secret.trim()
  if (value.length < MIN_CHARS || REDACTED.includes(value)) return []
  if (value.length > MAX_FORMED_CHARS) return [value]
  const encoded = encodeURIComponent(value)
  const forms = [value, JSON.stringify(value).slice(1, -1), encoded, encoded.replaceAll('%20', '+')]
  forms.push(...inAddresses(value))
  for (const offset of [0, 1, 2]) {
    const form = base64Core(value, offset)
    forms.push(form, form.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return [...new Set(forms)].filter((form) => form.length >= MIN_CHARS)
}

/** As programs write it into an address or a form, which leaves other characters as they are than `encodeURIComponent`. */
function inAddresses(value: string): readonly string[] {
  const url = new URL('http://x')
  url.search = `=${value}`
  url.hash = `=${value}`
  url.pathname = `/=${value}`
  const form = String(new URLSearchParams([['', value]]))
  return [url.search.slice(2), url.hash.slice(2), url.pathname.slice(2), form.slice(1)]
}

/** The characters of base64 that depend on the secret alone when `offset` other bytes (modulo 3) come before it. */
function base64Core(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
  const whole = Math.floor((bytes.length * 8) / 6)
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), whole)
}
