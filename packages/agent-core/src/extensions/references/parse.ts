/** Something outside the message that the person wants attached. `written` is as they put it. */
export type Reference = { readonly written: string } & (
  | { readonly type: 'file'; readonly path: string; readonly lines: LineRange | null }
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'diff' }
  | { readonly type: 'staged' }
  | { readonly type: 'git'; readonly count: number }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'session'; readonly name: string }
)

/** Lines of a file, from 1, both included. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

const MARK = /(?<![\w@/.])@(?:(?:file|folder|git|url|session):\S|diff\b|staged\b)/
const REFERENCE =
  /(?<![\w@/.])@(?:(?<kind>file|folder|git|url|session):(?<target>"[^"\n]+"(?:[:#][\w:.#-]*)?|(?:\\.|[^\s\\"])+)|(?<bare>diff|staged)\b)/g
const TRAILING = /[.,;:!?)\]}'"»”]+$/
const RANGE = /^(?<path>.+?)(?::(?<from>\d+)(?:-(?<to>\d+)|:\d+)?|#L(?<hashFrom>\d+)(?:-L?(?<hashTo>\d+))?)$/
const MAX_REFERENCES = 20
/** No path is longer, and patterns stay quick. */
const MAX_CHARS = 2_048
const MAX_COMMITS = 10

/** Whether a text may hold references. Asked for each message, so it is one look. */
export function hasReferences(text: string): boolean {
  return text.includes('@') && MARK.test(text)
}

/**
 * The references in a text, each once, at most 20. Punctuation after one is not part of it, a column behind a line number is left out, and
 * a range that makes no sense means the whole file. @see 000, input of the terminal
 */
export function parseReferences(text: string): readonly Reference[] {
  const found = new Map<string, Reference>()
  for (const { groups = {} } of text.matchAll(REFERENCE)) {
    const { kind, target = '', bare } = groups
    if (found.size >= MAX_REFERENCES) break
    if (target.length > MAX_CHARS) continue
    const reference =
      bare === undefined
        ? toReference(kind!, target)
        : ({ type: bare as 'diff' | 'staged', written: `@${bare}` } as const)
    if (reference) found.set(reference.written, reference)
  }
  return [...found.values()]
}

function toReference(kind: string, target: string): Reference | null {
  const text = target.startsWith('"') ? target.replace(/^"([^"]+)"/, '$1') : withoutTrailing(kind, target)
  const written = `@${kind}:${text}`
  if (text === '') return null
  switch (kind) {
    case 'file':
      return { type: 'file', written, ...place(text) }
    case 'folder':
      return { type: 'folder', written, path: unquote(text) }
    case 'git': {
      const count = /^\d+$/.test(text) ? Number(text) : 0
      return count < 1 ? null : { type: 'git', written, count: Math.min(count, MAX_COMMITS) }
    }
    case 'url':
      return { type: 'url', written, url: text }
    default:
      return { type: 'session', written, name: text }
  }
}

/** The dot after `@folder:` is the workspace itself. */
function withoutTrailing(kind: string, target: string): string {
  const text = target.replace(TRAILING, '')
  return text === '' && kind === 'folder' && /^\.(?!\.)/.test(target) ? '.' : text
}

function place(text: string): { readonly path: string; readonly lines: LineRange | null } {
  const { path, from, to, hashFrom, hashTo } = RANGE.exec(text)?.groups ?? {}
  if (path === undefined) return { path: unquote(text), lines: null }
  const [first, last] = [Number(from ?? hashFrom), Number(to ?? hashTo ?? from ?? hashFrom)]
  return { path: unquote(path), lines: first >= 1 && last >= first ? { from: first, to: last } : null }
}

const unquote = (path: string) => path.replace(/\\(.)/g, '$1')
