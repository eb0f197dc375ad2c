/** One line of a hunk. */
interface HunkLine {
  readonly kind: 'context' | 'remove' | 'add'
  readonly text: string
}

/** Lines to find, and what becomes of them. */
export interface Hunk {
  /** Lines above the place, outermost first. */
  readonly hints: readonly string[]
  readonly lines: readonly HunkLine[]
}

/** What a patch does with one file. */
export type PatchOperation =
  | { readonly type: 'update'; readonly path: string; readonly hunks: readonly Hunk[] }
  | { readonly type: 'add'; readonly path: string; readonly content: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'move'; readonly from: string; readonly to: string }

/** A patch, or what is wrong with its text. */
type ParsedPatch =
  | { readonly type: 'parsed'; readonly operations: readonly PatchOperation[] }
  | { readonly type: 'malformed'; readonly problems: readonly string[] }

const BEGIN = /^\*\*\* ?Begin Patch\s*$/
const END = /^\*\*\* ?End Patch\s*$/
const FILE = /^\*\*\* ?(Update|Add|Delete) File:\s*(\S(?:.*\S)?)\s*$/
const MOVE = /^\*\*\* ?Move File:\s*(\S(?:.*?\S)??)\s*->\s*(\S(?:.*\S)?)\s*$/
const MOVE_TO = /^\*\*\* ?Move to:/i
/** Another way to write patches, which names files and places otherwise. */
const UNIFIED = /^(?:diff |Index: |--- |\+\+\+ )/
const IGNORED = /^(?:\*\*\* ?End of File\s*|\\ No newline at end of file\s*)$/
const HUNK = /^@@/
const LINE_NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: ?@@)?/

/** More than a model writes in one go, and as much as is taken apart without holding anything up. */
const MAX_PATCH_CHARS = 250_000

interface Section {
  readonly header: RegExpExecArray
  readonly body: string[]
}

/**
 * Reads a patch in the V4A form. Lines around Begin and End are passed over; several patches in a row are one. Line ends may be CRLF.
 */
export function parsePatch(text: string): ParsedPatch {
  if (text.length > MAX_PATCH_CHARS)
    return { type: 'malformed', problems: [`The patch has more than ${MAX_PATCH_CHARS} characters; send it in parts.`] }
  const lines = text.replace(/\r\n/g, '\n').split('\n')
  const begin = lines.findLastIndex((line) => BEGIN.test(line))
  if (lines.findLastIndex((line) => END.test(line)) < begin)
    return { type: 'malformed', problems: ['"*** End Patch" is missing, so the patch may be cut off; send all of it.'] }
  const { sections, problems } = splitPatch(lines, begin !== -1)
  const operations = sections.map((section) => parseSection(section, problems))
  if (sections.length === 0 && problems.length === 0)
    problems.push(
      'The patch names no file; begin with "*** Update File: path", "*** Add File: path", "*** Delete File: path" or "*** Move File: a -> b".',
    )
  return problems.length > 0 ? { type: 'malformed', problems } : { type: 'parsed', operations }
}

/** The parts of a patch by file, and what is wrong with its outline. */
function splitPatch(lines: readonly string[], hasBegin: boolean) {
  const sections: Section[] = []
  const problems: string[] = []
  let isInside = !hasBegin
  let stray: string | null = null
  for (const line of lines) {
    const header = FILE.exec(line) ?? MOVE.exec(line)
    if (BEGIN.test(line) || END.test(line)) isInside = BEGIN.test(line)
    else if (!isInside) {
      // Words around a patch are nothing to it; a file that would be left out is.
      if (header) problems.push(`"${line}" does not stand between "*** Begin Patch" and "*** End Patch".`)
    } else if (header) sections.push({ header, body: [] })
    else if (MOVE_TO.test(line))
      problems.push('"Move to" is not known; write "*** Move File: old -> new", then "*** Update File: new".')
    else if (IGNORED.test(line)) continue
    else if (sections.length > 0) sections.at(-1)!.body.push(line)
    else if (line.trim() !== '') stray ??= line
  }
  if (stray !== null) problems.push(explainStray(stray))
  return { sections, problems }
}

function explainStray(line: string): string {
  const text = `"${line.slice(0, 80)}" stands before the first "*** Update File: path" or like header`
  return UNIFIED.test(line)
    ? `${text}: this looks like a unified diff. Write the header of each file in that form, and "@@ line above @@" without line numbers.`
    : `${text}.`
}

function parseSection({ header, body }: Section, problems: string[]): PatchOperation {
  // A move has its source where the others have what they do.
  const [line, kind, path] = header as unknown as [string, string, string]
  const isMove = MOVE.test(line)
  for (const one of isMove ? [kind, path] : [path])
    if (one.split(/[\\/]/).includes('..')) problems.push(`${one}: ".." is not allowed in the paths of a patch.`)
  if (isMove) {
    if (body.some((one) => one.trim() !== ''))
      problems.push(`Move File takes no hunks; put them below "*** Update File: ${path}".`)
    return { type: 'move', from: kind, to: path }
  }
  switch (kind) {
    case 'Delete':
      return { type: 'delete', path }
    case 'Add':
      return { type: 'add', path, content: parseContent(path, body, problems) }
    default:
      return { type: 'update', path, hunks: parseHunks(body) }
  }
}

function parseContent(path: string, body: readonly string[], problems: string[]): string {
  const lines = withoutBlankEnd(body.filter((line) => !HUNK.test(line)))
  const stray = lines.find((line) => line !== '' && !line.startsWith('+'))
  if (stray !== undefined)
    problems.push(
      `Add File ${path}: "${stray.slice(0, 80)}" does not begin with "+", as every line of a new file does.`,
    )
  return lines.map((line) => `${line.slice(1)}\n`).join('')
}

function parseHunks(body: readonly string[]): readonly Hunk[] {
  const hunks: { readonly hints: string[]; readonly body: string[] }[] = []
  for (const line of body) {
    const last = hunks.at(-1)
    if (HUNK.test(line)) {
      const hint = hintOf(line)
      const isNested = last !== undefined && last.body.length === 0 && hint !== ''
      if (isNested) last.hints.push(hint)
      else hunks.push({ hints: hint === '' ? [] : [hint], body: [] })
    } else if (last) last.body.push(line)
    else hunks.push({ hints: [], body: [line] })
  }
  return hunks
    .map(({ hints, body: lines }) => ({ hints, lines: withoutBlankEnd(lines).map(parseLine) }))
    .filter(({ lines }) => lines.length > 0)
}

const hintOf = (line: string): string =>
  line
    .slice(2)
    .trim()
    .replace(LINE_NUMBERS, '')
    .replace(/\s*@@$/, '')
    .trim()

/** An empty line before the next header is there for the eye. */
function withoutBlankEnd(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line !== '')
  return lines.slice(0, last + 1)
}

function parseLine(line: string): HunkLine {
  switch (line[0]) {
    case '+':
      return { kind: 'add', text: line.slice(1) }
    case '-':
      return { kind: 'remove', text: line.slice(1) }
    case ' ':
      return { kind: 'context', text: line.slice(1) }
    default:
      return { kind: 'context', text: line }
  }
}
