/**
 * Whether `text` matches `pattern` as a whole. `*` and `**` match anything including nothing, `?` one character, a
 * backslash takes the next one literally. With `path` a single
 * `*` and `?` stop at a slash, and a double star with its slash may match no folder at all. Takes time bounded by the product of both
 * lengths.
 */
export function matchGlob(pattern: string, text: string, options: { readonly path?: boolean } = {}): boolean {
  if (!options.path && lacksWords(pattern, text)) return false
  const tokens = tokenize(pattern, options.path ?? false)
  const closure = (at: number, into: Set<number>): void => {
    for (let next = at; ; next++) {
      into.add(next)
      if (next >= tokens.length || tokens[next]!.type === 'one') return
    }
  }
  let reachable = new Set<number>()
  closure(0, reachable)
  for (const character of text) {
    const following = new Set<number>()
    for (const at of reachable) {
      const token = tokens[at]
      if (!token?.accepts(character)) continue
      if (token.type === 'many') closure(at, following)
      else closure(at + 1, following)
    }
    if (following.size === 0) return false
    reachable = following
  }
  return reachable.has(tokens.length)
}

/** Told apart at once by what a pattern has between its wildcards: lists of thousands are gone through for each action. */
function lacksWords(pattern: string, text: string): boolean {
  return !pattern.includes('\\') && pattern.split(/[*?]/).some((words) => !text.includes(words))
}

interface Token {
  readonly type: 'one' | 'many'
  accepts(character: string): boolean
}

const anything = (): boolean => true
const notSlash = (character: string): boolean => character !== '/'

function tokenize(pattern: string, path: boolean): Token[] {
  const tokens: Token[] = []
  const characters = [...pattern]
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    if (character === '\\' && at + 1 < characters.length) {
      const literal = characters[++at]!
      tokens.push({ type: 'one', accepts: (other) => other === literal })
    } else if (character === '*') {
      let stars = 1
      while (characters[at + 1] === '*') {
        stars++
        at++
      }
      tokens.push({ type: 'many', accepts: path && stars === 1 ? notSlash : anything })
      // `**/` may stand for no folder at all, so its slash is part of the star.
      if (path && stars > 1 && characters[at + 1] === '/') at++
    } else if (character === '?') tokens.push({ type: 'one', accepts: path ? notSlash : anything })
    else tokens.push({ type: 'one', accepts: (other) => other === character })
  }
  return tokens
}

/** A pattern that matches exactly `text`. */
export function escapeGlob(text: string): string {
  let escaped = ''
  let from = 0
  // A pattern with a replacement takes three times as long for text that is nothing but such signs.
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char !== '*' && char !== '?' && char !== '\\') continue
    escaped += `${text.slice(from, at)}\\`
    from = at
  }
  return escaped + text.slice(from)
}

/** Whether the pattern has a wildcard. */
export function hasWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern.replace(/\\[\s\S]/g, ''))
}
