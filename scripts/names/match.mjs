// What `names.json` says about one name, one file or one sentence.

const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+/gu
/** What may stand between two words of a phrase: spaces, and the line break of a comment. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//|>|-)?[ \t]*)`

/**
 * @typedef {{ old: string, new: string, kind: 'identifier' | 'file' | 'prose', in?: string[], within?: string, byHand?: string }} Row
 *   `old` and `new` of a name are in kebab case and stand for a sequence of its parts; `=wholeName` stands for exactly that name.
 *   A phrase of prose is changed by `--apply` unless `byHand` says why a person has to.
 * @typedef {{ name: string, kind: Row['kind'], in?: string[], within?: string, where?: string, reason: string }} Exception
 *   `*` in a name stands for anything; `within` is the declaration of the file that the name stands in, `where` a pattern that begins at it
 * @param {{ rows: Row[], exceptions: Exception[] }} names
 */
export function createMatcher(names) {
  const problems = checkShape(names)
  const exceptions = names.exceptions.map((exception) => ({
    ...exception,
    hits: 0,
    covers: wildcard(exception.name, exception.kind === 'prose' ? 'iu' : 'u'),
    stands: exception.where === undefined ? null : new RegExp(exception.where, 'uy'),
    inFile: inFiles(exception.in),
  }))
  const rows = names.rows.map((row) => ({ ...row, inFile: inFiles(row.in), ...compile(row) }))
  const nameRows = byFirstPart(rows.filter(({ kind }) => kind === 'identifier'))
  const fileRows = byFirstPart(rows.filter(({ kind }) => kind === 'file'))
  const proseRows = rows.filter(({ kind }) => kind === 'prose')
  const excepted = (kind, found, file, place) => {
    const exception = exceptions.find(
      (item) => item.kind === kind && item.covers.test(found) && item.inFile(file) && isThere(item, place),
    )
    if (exception) exception.hits++
    return exception !== undefined
  }
  const rename = (rows, kind, name, file, place) => {
    const found = replaceParts(rows, name, file, place)
    return found === null || excepted(kind, name, file, place) ? null : found
  }
  return {
    problems,
    proseRows,
    excepted,
    /** Whether a name could be meant by a row in some file: cheap, and asked once per name. */
    mayMean: (name) => replaceParts(nameRows, name, null) !== null,
    /**
     * @param {{ text: string, at: number }} [place] where the name stands
     * @returns {{ text: string, row: Row } | null} the new name
     */
    name: (name, file, place) => rename(nameRows, 'identifier', name, file, place),
    /** @returns {{ text: string, row: Row } | null} the new path */
    path(file) {
      const parts = file.split('/')
      let row = null
      const renamed = parts.map((part, index) => {
        const [, base, rest] = /^([^.]*)(.*)$/.exec(part)
        const found =
          base &&
          rename(fileRows, 'file', base, index === parts.length - 1 ? file : `${parts.slice(0, index + 1).join('/')}/`)
        if (found) row = found.row
        return found ? found.text + rest : part
      })
      return row ? { text: renamed.join('/'), row } : null
    },
    /** Exceptions that excepted nothing. */
    unused: () => exceptions.filter(({ hits }) => hits === 0),
  }
}

function isThere({ within, stands }, place) {
  if (within === undefined && stands === null) return true
  if (!place) return false
  if (stands) {
    stands.lastIndex = place.at
    if (!stands.test(place.text)) return false
  }
  return within === undefined || declarationAt(place) === within
}

/** The name of the declaration at the top of the file that a place stands in. */
function declarationAt({ text, at }) {
  const before = text.slice(0, at)
  return [
    ...before.matchAll(
      /^(?:export )?(?:default )?(?:async )?(?:abstract )?(?:interface|function\*?|type|class|const|let) (\w+)/gm,
    ),
  ].at(-1)?.[1]
}

function checkShape({ rows, exceptions }) {
  const kinds = ['identifier', 'file', 'prose']
  return [
    ...rows
      .filter(({ old, new: to, kind }) => !old || to === undefined || !kinds.includes(kind))
      .map((row) => `a row is incomplete: ${JSON.stringify(row)}`),
    ...exceptions
      .filter(({ name, kind }) => !name || !kinds.includes(kind))
      .map((item) => `an exception is incomplete: ${JSON.stringify(item)}`),
    ...exceptions.filter(({ reason }) => !reason?.trim()).map(({ name }) => `the exception '${name}' has no reason`),
  ]
}

function compile(row) {
  if (row.kind === 'prose') {
    const words = row.old.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return { pattern: new RegExp(`(?<![\\w-])${words.join(`(${GAP})`)}(?![\\w])`, 'giu') }
  }
  if (row.old.startsWith('=')) return { whole: row.old.slice(1) }
  return { parts: row.old.split('-'), to: row.new.split('-').filter(Boolean) }
}

/** Rows by their first part; the longer sequence and the row that names files come first. */
function byFirstPart(rows) {
  const whole = group(
    rows.filter((row) => row.whole).sort((a, b) => narrowness(b) - narrowness(a)),
    (row) => row.whole,
  )
  const first = group(
    rows.filter((row) => row.parts),
    (row) => row.parts[0],
  )
  for (const list of first.values())
    list.sort((a, b) => b.parts.length - a.parts.length || narrowness(b) - narrowness(a))
  return { whole, first }
}

/** A row for one declaration goes before one for some files, and that before one for all. */
const narrowness = (row) => (row.within ? 2 : row.in ? 1 : 0)

function group(items, keyOf) {
  const groups = new Map()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** @param {string | null} file null: any */
function replaceParts({ whole, first }, name, file, place) {
  const applies = (row) =>
    file === null || (row.inFile(file) && (row.within === undefined || (place && declarationAt(place) === row.within)))
  const exact = whole.get(name)?.find(applies)
  if (exact) return { text: exact.new, row: exact }
  // What has underscores and small letters is a column, a key of the configuration or of a wire: what is stored or shown keeps its name.
  if (/\p{Ll}/u.test(name) && /\w_\w/.test(name)) return null
  const found = [...name.matchAll(PARTS)]
  const parts = found.map(([part]) => part.toLowerCase())
  let row = null
  let text = ''
  let end = 0
  for (let index = 0; index < parts.length; ) {
    const match = first
      .get(parts[index])
      ?.find((item) => applies(item) && item.parts.every((part, at) => parts[index + at] === part))
    if (!match) {
      index++
      continue
    }
    const from = found[index]
    const last = found[index + match.parts.length - 1]
    text += name.slice(end, from.index) + inStyle(match, from[0], isAllCaps(name))
    end = last.index + last[0].length
    index += match.parts.length
    row = match
  }
  return row ? { text: text + name.slice(end), row } : null
}

const isAllCaps = (name) => /^[^\p{Ll}]*$/u.test(name) && /\p{Lu}{2}/u.test(name)

function inStyle({ to: words, kind }, first, allCaps) {
  if (kind === 'file') return words.join('-')
  if (allCaps) return words.join('_').toUpperCase()
  const capital = /^\p{Lu}/u.test(first)
  return words.map((word, at) => (at > 0 || capital ? word[0].toUpperCase() + word.slice(1) : word)).join('')
}

/** Files by path from the root: `*` within a folder, `**` across folders; `!` in front takes files out. */
function inFiles(globs) {
  if (!globs) return () => true
  const taken = globs.filter((glob) => !glob.startsWith('!')).map((glob) => wildcard(glob, 'u', true))
  const not = globs.filter((glob) => glob.startsWith('!')).map((glob) => wildcard(glob.slice(1), 'u', true))
  return (file) => (taken.length === 0 || taken.some((glob) => glob.test(file))) && !not.some((glob) => glob.test(file))
}

function wildcard(pattern, flags, isPath = false) {
  const source = pattern
    .split(/(\*\*\/?|\*)/)
    .map((piece) => {
      if (piece.startsWith('**')) return '.*'
      if (piece === '*') return isPath ? '[^/]*' : '.*'
      return piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    })
    .join('')
  return new RegExp(`^(?:${source})$`, flags)
}
