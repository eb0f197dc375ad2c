import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type EditorState, splice } from './editor.js'
import type { FileFinder } from './file-finder.js'
import { rank } from './fuzzy.js'

/** What a word may become. */
export interface Candidate {
  /** In place of the word. */
  readonly text: string
  /** How a list shows it. Default: its text. */
  readonly label?: string
  /** More about it, for a list. */
  readonly detail?: string
  /** Whether a line that ends with it can be sent. Default `false`. */
  readonly isWhole?: boolean
}

/** A word that can be completed, and what to. */
export interface Completion {
  readonly type: 'command' | 'argument' | 'reference' | 'skill' | 'path'
  /** The part of the line that is replaced. */
  readonly start: number
  readonly end: number
  /** The best first. */
  readonly candidates: readonly Candidate[]
  /** Whether the first one fits well enough to be meant. */
  readonly isSure: boolean
  /** Whether more may be found in a moment. */
  readonly isPartial: boolean
}

/** What completion looks at beside the line. */
export interface CompletionSources {
  /** What may stand in place of the last word of a line that begins with a slash, whatever that word is; nothing where it is no command. */
  readonly complete: (line: string) => Promise<readonly Candidate[]>
  readonly files: FileFinder
  /** Sessions as `text` to name them by and what they are about, the newest first. */
  readonly sessions: () => Promise<readonly Candidate[]>
  readonly cwd: string
  readonly userHome: string
}

const MAX_ENTRIES = 10_000
const MAX_SESSIONS = 5

/** What can be attached to a message; see the references of `@hermes/agent-core`. */
const REFERENCES: readonly Candidate[] = [
  { text: '@file:', detail: 'a file, or lines of it: @file:a.ts:10-20' },
  { text: '@folder:', detail: 'what is in a folder' },
  { text: '@diff ', detail: 'changes that are not staged' },
  { text: '@staged ', detail: 'changes that are staged' },
  { text: '@git:', detail: 'the last commits: @git:3' },
  { text: '@session:', detail: 'what was said in another session' },
  { text: '@url:', detail: 'a page' },
]

/**
 * What the word at the cursor may become: a command at the beginning of the line or an argument of it, a reference, and with `paths` a path;
 * `null` when nothing fits.
 */
export async function findCompletion(
  state: EditorState,
  sources: CompletionSources,
  { paths: withPaths }: { readonly paths: boolean },
): Promise<Completion | null> {
  const before = state.text.slice(0, state.cursor)
  const word = wordBefore(before)
  const place = { start: state.cursor - word.length, end: state.cursor }
  const line = before.trimStart()
  if (line.startsWith('/') && !line.includes('\n')) {
    const { items, isSure } = await rank(word, await sources.complete(line))
    const type = line === word ? 'command' : 'argument'
    if (items.length > 0) return { type, ...place, candidates: items, isSure: isSure && word !== '/', isPartial: false }
  }
  if (word.startsWith('@')) {
    const { candidates, isSure } = await references(word, sources)
    const { isListing: isPartial } = sources.files
    return candidates.length > 0 || isPartial ? { type: 'reference', ...place, candidates, isSure, isPartial } : null
  }
  if (word.startsWith('$')) {
    const { items, isSure } = await rank(word.slice(1), await sources.complete(`/skill ${word.slice(1)}`))
    const candidates = items.map((skill) => ({ ...skill, text: `$${skill.text}` }))
    if (candidates.length > 0) return { type: 'skill', ...place, candidates, isSure, isPartial: false }
  }
  const candidates = withPaths ? await paths(word, '', sources) : []
  return candidates.length === 0
    ? null
    : { type: 'path', ...place, candidates: byText(candidates), isSure: false, isPartial: false }
}

/** The word that ends a text; a blank behind a backslash is part of it. */
export function wordBefore(text: string): string {
  return /(?:\\.|[^\s\\])*$/.exec(text)?.[0] ?? ''
}

type Found = Pick<Completion, 'candidates' | 'isSure'>

async function references(word: string, sources: CompletionSources): Promise<Found> {
  const [, mark = '@', typed = ''] = /^(@(?:(?:file|folder|session|git|url):)?)(.*)$/s.exec(word) ?? []
  switch (mark) {
    case '@file:':
    case '@folder:':
      return { candidates: await files(mark, typed, sources), isSure: typed !== '' }
    case '@session:':
      return sessions(typed, sources)
    case '@':
      return anything(word, typed, sources)
    default:
      return { candidates: [], isSure: false }
  }
}

/** A bare `@` is offered everything that can be attached, what lies in the workspace first once there are letters. */
async function anything(word: string, typed: string, sources: CompletionSources): Promise<Found> {
  const kinds = REFERENCES.filter(({ text }) => text.startsWith(word))
  const found = await files('@', typed, sources)
  if (typed === '') return { candidates: [...kinds, ...found], isSure: false }
  const { candidates: talks } = typed.length > 1 ? await sessions(typed, sources) : { candidates: [] }
  const candidates = [...kinds, ...found, ...talks.slice(0, MAX_SESSIONS)]
  return { candidates, isSure: candidates.length > 0 }
}

async function sessions(typed: string, { sessions: list }: CompletionSources): Promise<Found> {
  const { items } = await rank(typed, await list())
  return { candidates: items.map((found) => ({ ...found, text: `@session:${found.text} ` })), isSure: typed !== '' }
}

/** Files and folders of the workspace by their letters; where the path leads out of it or to what is hidden, by their beginning. */
async function files(mark: string, typed: string, sources: CompletionSources): Promise<readonly Candidate[]> {
  const isElsewhere = /^(?:[./~]|.*\/\.)/.test(typed)
  const found = isElsewhere ? [] : await sources.files.find(unquote(typed))
  const wanted = mark === '@folder:' ? found.filter((path) => path.endsWith('/')) : found
  if (wanted.length > 0) return wanted.map((path) => reference(mark, path))
  const near = await paths(typed, mark === '@' ? '@file:' : mark, sources)
  return byText(mark === '@folder:' ? near.filter(({ text }) => text.endsWith('/')) : near)
}

/** Only what names its kind is attached. */
function reference(mark: string, path: string): Candidate {
  const isFolder = path.endsWith('/')
  const kind = mark !== '@' ? mark : isFolder ? '@folder:' : '@file:'
  return { text: `${kind}${quote(path)}${isFolder && mark !== '@' ? '' : ' '}`, label: path }
}

/** Paths that begin like what was typed, the mark before them. */
async function paths(typed: string, mark: string, { cwd, userHome }: CompletionSources): Promise<readonly Candidate[]> {
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
    .map((entry) => ({ text: `${mark}${folder}${quote(entry.name)}${entry.isDirectory() ? '/' : ' '}` }))
}

const quote = (name: string) => name.replace(/[\s\\]/g, '\\$&')
const unquote = (path: string) => path.replace(/\\(.)/g, '$1')
const byText = (candidates: readonly Candidate[]) =>
  candidates.toSorted((left, right) => (left.text < right.text ? -1 : 1))

/** What all candidates begin with. */
export function commonBeginning(candidates: readonly Candidate[]): string {
  const [first = '', ...others] = candidates.map(({ text }) => text)
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return first.slice(0, length).toWellFormed()
}

/** The line with one candidate, or with what all have in common, in place of the word. */
export function applyCompletion(state: EditorState, completion: Completion, text: string): EditorState {
  return splice(state, completion.start, completion.end, text)
}
