// What the receiving server found out about a sender. Parts of it are the sender's own words, so it is read by character.

/** What stands for a comment until it is known what is beside it; never in a header. */
const COMMENT = '\u0001'
/** Beside anything but a gap, a comment may be within an address, so that what is before it is no whole word. */
const GLUED_COMMENT = /[^\s;\u0001]\u0001+[^\s;\u0001]/
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const METHOD = /^\s*([\w-]+)(?:\s*\/\s*\d+)?\s*=\s*([\w-]+)(?=\s|$)/
const DOMAIN = /^([\w.-]+)$/
const DOMAIN_OF_ADDRESS = /^(?:[^\s;@"]*@)?([\w.-]+)$/

/** One `Authentication-Results` header, in lower case. */
interface AuthenticationResults {
  /** Who wrote it. */
  readonly server: string
  /** One check each, without comments; a quoted string that is no plain value is a single `"`. */
  readonly results: readonly string[]
}

/**
 * Reads a header; `null` for one whose quotes or comments are not whole, which says nothing.
 * @see https://www.rfc-editor.org/rfc/rfc8601
 */
export function authenticationResults(header: string): AuthenticationResults | null {
  const plain = withoutQuotesAndComments(header)
  if (plain === null) return null
  const [server = '', ...results] = plain.toLowerCase().split(';')
  return { server: server.trimStart().split(/\s/, 1)[0]!, results }
}

function withoutQuotesAndComments(header: string): string | null {
  if (CONTROL.test(header)) return null
  let plain = ''
  let depth = 0
  let isQuoted = false
  let quoted = ''
  for (let at = 0; at < header.length; at++) {
    const char = header[at]!
    if (char === '\\' && (isQuoted || depth > 0)) {
      at++
      // No plain value has one.
      quoted += char
    } else if (isQuoted) {
      if (depth === 0) quoted += char
      // Quotes mean nothing in a comment, but an address may be repeated there that has a parenthesis in its own.
      if (depth > 0 && (char === '(' || char === ')')) return null
      isQuoted = char !== '"'
      if (!isQuoted && depth === 0) plain += plainValue(plain, quoted.slice(0, -1), header[at + 1])
    } else if (char === '(') depth++
    else if (char === ')') {
      if (depth === 0) return null
      depth--
      if (depth === 0) plain += COMMENT
    } else {
      isQuoted = char === '"'
      quoted = ''
      if (depth === 0 && !isQuoted) plain += char
    }
  }
  if (isQuoted || depth > 0 || GLUED_COMMENT.test(plain)) return null
  return plain.replaceAll(COMMENT, ' ')
}

/** What stands for a quoted string: itself where it is a whole value and nothing but a name or an address, else a single `"`. */
function plainValue(before: string, quoted: string, next = ' '): string {
  return before.endsWith('=') && /^[\w.@+=-]+$/.test(quoted) && /[\s;]/.test(next) ? quoted : '"'
}

/** Whether the owner of the domain disowns the mail. */
export function isDmarcFailure(result: string): boolean {
  const [, method, outcome] = METHOD.exec(result) ?? []
  return method === 'dmarc' && outcome === 'fail'
}

/** Whether a check vouches for a domain: DMARC, or a signature or a sending server of it or of one that it is part of. */
export function provesDomain(result: string, domain: string): boolean {
  const [start, method, outcome] = METHOD.exec(result) ?? []
  const properties = start === undefined ? null : propertiesOf(result.slice(start.length))
  if (properties === null || outcome !== 'pass') return false
  if (method === 'dmarc') return true
  const vouched = method === 'dkim' ? signerIn(properties) : method === 'spf' ? envelopeDomainIn(properties) : undefined
  return vouched !== undefined && (domain === vouched || domain.endsWith(`.${vouched}`))
}

/** `null` where anything is no property, or one is named twice. */
function propertiesOf(text: string): ReadonlyMap<string, string> | null {
  const properties = new Map<string, string>()
  const property = /\s+([\w.-]+)\s*=\s*(\S+)/y
  const rest = text.trimEnd()
  while (property.lastIndex < rest.length) {
    const [, name, value] = property.exec(rest) ?? []
    if (name === undefined || properties.has(name)) return null
    properties.set(name, value!)
  }
  return properties
}

/** Some servers name only for whom was signed, which is never outside of the domain that signed. */
function signerIn(properties: ReadonlyMap<string, string>): string | undefined {
  const signer = properties.get('header.d')
  return (signer === undefined ? DOMAIN_OF_ADDRESS.exec(properties.get('header.i') ?? '') : DOMAIN.exec(signer))?.[1]
}

function envelopeDomainIn(properties: ReadonlyMap<string, string>): string | undefined {
  return DOMAIN_OF_ADDRESS.exec(properties.get('smtp.mailfrom') ?? '')?.[1]
}
