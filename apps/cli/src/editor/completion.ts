import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type EditorState, splice } from './editor.js'

/** A word that can be completed, and what to. */
export interface Completion {
  /** The part of the line that is replaced. */
  readonly start: number
  readonly end: number
  /** Sorted; each is the whole replacement. */
  readonly candidates: readonly string[]
}

/** What completion looks at beside the line. */
export interface CompletionSources {
  /** What the last word of a line that begins with a slash may become; nothing where it is no command. */
  readonly complete: (line: string) => Promise<readonly string[]>
  readonly cwd: string
  readonly userHome: string
}

const MAX_ENTRIES = 10_000

/** What can be attached to a message; see the references of `@hermes/agent-core`. */
const REFERENCES = ['@diff ', '@file:', '@folder:', '@git:', '@session:', '@staged ', '@url:']

/** What the word at the cursor may become: a command at the beginning of the line, a reference, or a path; `null` when nothing fits. */
export async function findCompletion(state: EditorState, sources: CompletionSources): Promise<Completion | null> {
  const before = state.text.slice(0, state.cursor)
  const word = /(?:\\.|[^\s\\])*$/.exec(before)?.[0] ?? ''
  const start = state.cursor - word.length
  const fitting = before.trimStart().startsWith('/') ? await sources.complete(before.trimStart()) : []
  const candidates = fitting.length > 0 ? fitting : await references(word, sources)
  return candidates.length === 0 ? null : { start, end: state.cursor, candidates: candidates.toSorted() }
}

/** References, with the path in one; a bare `@` is offered what lies here too. */
async function references(word: string, sources: CompletionSources): Promise<readonly string[]> {
  const mark = /^@(?:file:|folder:)?/.exec(word)?.[0] ?? ''
  const found = await paths(word, mark, sources)
  if (mark === '@folder:') return found.filter((path) => path.endsWith('/'))
  return mark === '@' ? [...REFERENCES.filter((name) => name.startsWith(word)), ...found] : found
}

/** Paths that begin like what follows the mark, which stays; a bare word counts as a path too when it begins like one. */
async function paths(word: string, mark: string, { cwd, userHome }: CompletionSources): Promise<readonly string[]> {
  const typed = word.slice(mark.length)
  if (mark === '' && typed === '') return []
  const slash = typed.lastIndexOf('/') + 1
  const [folder, beginning] = [typed.slice(0, slash), unquote(typed.slice(slash))]
  const place = unquote(folder)
  const absolute = place.startsWith('~/')
    ? join(userHome, place.slice(2))
    : place.startsWith('/')
      ? place
      : join(cwd, place)
  const entries = await readdir(absolute, { withFileTypes: true }).catch(() => [])
  return entries
    .filter(({ name }) => name.startsWith(beginning) && (beginning.startsWith('.') || !name.startsWith('.')))
    .slice(0, MAX_ENTRIES)
    .map((entry) => `${mark}${folder}${quote(entry.name)}${entry.isDirectory() ? '/' : ' '}`)
}

const quote = (name: string) => name.replace(/[\s\\]/g, '\\$&')
const unquote = (path: string) => path.replace(/\\(.)/g, '$1')

/** What all candidates begin with. */
export function commonBeginning(candidates: readonly string[]): string {
  const [first = '', ...others] = candidates
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return first.slice(0, length).toWellFormed()
}

/** The line with one candidate, or with what all have in common, in place of the word. */
export function applyCompletion(state: EditorState, completion: Completion, text: string): EditorState {
  return splice(state, completion.start, completion.end, text)
}
