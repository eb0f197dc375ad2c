// Commands that do not name a skill of others, and may run a program of one all the same: by a pattern, or by words that are known when they
// run. Where isolation holds commands these find nothing, but for skills of the workspace: there a pattern counts. Where nothing holds them,
// they are asked about.
import type { ActingSkill } from '@hermes/contracts/policy'
import type { collectInvocations } from './command/collect.js'
import { inlineCode } from './command/inline-code.js'
import type { Invocation } from './command/invocation.js'
import { onlyLooks } from './command/only-looks.js'
import { PROGRAMS } from './command/program-tables.js'
import { interpreterOf } from './command/programs.js'
import { matchGlob } from './glob.js'

const OPEN = /[*?[{]/
const COMPUTED = /[$`]/
/** Behind `/.hub/` nothing lies but skills of others. */
export const HUB = /\.hub(?:\/|$|["'\s])/
/** Where projects keep skills: no everyday walk begins there. */
const OF_SKILLS = /(?:^|\/)\.(?:agents|hermes)(?:\/|$)/
const HANDS_ON = new Set(['', 'cd', 'cp', 'cat', 'echo', 'export', 'mkdir', 'printf', 'pwd', 'read', 'test', '['])
const SOURCES = new Set(['source', '.'])
/** Code that starts programs or runs files, and code that looks for files. */
const RUNS =
  /subprocess|os\.system|popen|\bexec(?:File)?(?:Sync)?\s*\(|\bos\.exec|\bspawn|\bfork\b|runpy|import_module|__import__|\beval\s*\(|\b(?:import|require)\s*\(\s*(?!["'\s])/i
const LOOKS_FOR = /glob|walk|listdir|scandir|readdir|iterdir|expanduser|homedir|\bhome\b|environ|process\.env/i

/** Whether a folder is of an installed skill: its last part is no other folder's. */
export const isHashed = (folder: string): boolean => /@[0-9a-f]{12}$/.test(folder)

/** The skills that a command line may run a program of without naming them; starts in the absolute `cwd`. Pure; never throws. */
export function skillsReached(
  command: string,
  { invocations, isTooLong }: ReturnType<typeof collectInvocations>,
  {
    cwd,
    skills,
    isHeld,
    isOfHub,
  }: {
    readonly cwd: string
    readonly skills: readonly ActingSkill[]
    readonly isHeld: boolean
    /** Whether a word leads to where installed skills lie, and no skill explains that. */
    readonly isOfHub: boolean
  },
): readonly ActingSkill[] {
  if (skills.length === 0) return []
  if (isTooLong) return skills
  const acting = invocations.filter(({ name, written }) => !HANDS_ON.has(name) && !onlyLooks(written))
  if (acting.length === 0) return []
  const loops = loopsIn(command)
  const walks = acting.some(({ via }) => via !== null)
  const isSearched = !isHeld && acting.some(looksForPrograms)
  return skills.filter(({ folder }) => {
    const parts = folder.split('/').slice(1)
    if (isSearched || (isOfHub && isHashed(folder))) return true
    const place = { folder: parts, loops, isHeld, matchesDots: isHashed(folder) }
    return acting.some((one) => mayRun(one, place)) || (walks && walksOver(command, cwd, { parts, isHeld }))
  })
}

function looksForPrograms(invocation: Invocation): boolean {
  return inlineCode(invocation).some((code) => RUNS.test(code) && LOOKS_FOR.test(code))
}

/** Words of a loop by the name of its variable: what they cannot be, it is not. */
function loopsIn(command: string): ReadonlyMap<string, readonly string[]> {
  const loops = [...command.matchAll(/\bfor\s+(\w+)\s+in\s+([^;\n]{0,2000})/g)]
  return new Map(loops.map(([, name, words]) => [name!, words!.trim().split(/\s+/)]))
}

function mayRun({ name, program, args, context }: Invocation, of: Omit<Place, 'cwd'>) {
  const place = { ...of, cwd: context.cwd ?? '/' }
  const runsFiles = interpreterOf(name) !== null || PROGRAMS.shells.includes(name) || SOURCES.has(name)
  const script = runsFiles ? args.find(({ text }) => !text.startsWith('-')) : undefined
  // A program of the system may work in any folder: what it is, or the script that it runs, counts there.
  const computed = [program, script].flatMap((word) => (word === undefined || word.text === '' ? [] : [word.text]))
  return (
    computed.some((word) => mayBe(word, place)) ||
    args.some(({ text }) => OPEN.test(text) && !COMPUTED.test(text) && mayBe(text, place))
  )
}

interface Place {
  readonly cwd: string
  readonly folder: readonly string[]
  readonly loops: ReadonlyMap<string, readonly string[]>
  /** What is computed does not count. */
  readonly isHeld: boolean
  /** Whether `*` may stand for a name that begins with a dot; in a shell it does not. */
  readonly matchesDots: boolean
}

/** Whether a word that is open may name something in a folder. */
function mayBe(word: string, place: Place): boolean {
  const loop = /^\$\{?(\w+)\}?/.exec(word)
  const values = loop === null ? undefined : place.loops.get(loop[1]!)
  if (values !== undefined) {
    const rest = word.slice(loop![0].length)
    return values.some((value) => mayBe(`${value}${rest}`, { ...place, loops: new Map() }))
  }
  if (place.isHeld && COMPUTED.test(word)) return false
  // A program without a slash is looked up, wherever the line stands.
  const isRooted = /^[/~$`]/.test(word)
  if (!isRooted && !word.includes('/') && !OPEN.test(place.cwd) && !COMPUTED.test(place.cwd)) return false
  const path = isRooted ? word : `${place.cwd}/${word}`
  return (OPEN.test(path) || COMPUTED.test(path)) && reaches(path, place)
}

/** Whether what a pattern may stand for lies in the folder. `~` and what is computed may be any folders. */
function reaches(path: string, { folder, matchesDots }: Place): boolean {
  const parts = path.split('/').filter((part, at) => part !== '.' && (part !== '' || at === 0))
  const [first, ...rest] = parts
  const isAnchored = first === ''
  const from = (part: number, at: number): boolean => {
    if (at === folder.length) return true
    const wanted = rest[part]
    if (wanted === undefined) return false
    if (COMPUTED.test(wanted)) return true
    const name = folder[at]!
    const isSeen = matchesDots || !name.startsWith('.') || !/^[*?]/.test(wanted)
    return isSeen && matchesPart(wanted, name) && from(part + 1, at + 1)
  }
  if (isAnchored) return from(0, 0)
  if (first !== undefined && COMPUTED.test(first)) return true
  return folder.some((_, at) => from(0, at))
}

/** Sets of signs and lists of words may be anything. */
const matchesPart = (wanted: string, name: string) =>
  OPEN.test(wanted) ? matchGlob(wanted.replace(/\[[^\]]*\]?|\{[^}]*\}?/g, '*'), name) : wanted === name

/** Whether a line that hands names on, by `find` or `xargs`, begins above the folder. */
function walksOver(
  command: string,
  cwd: string,
  { parts, isHeld }: { readonly parts: readonly string[]; readonly isHeld: boolean },
): boolean {
  const whole = `/${parts.join('/')}/`
  return command.split(/[\s;|&()"']+/).some((word) => {
    if (isHeld) return OF_SKILLS.test(word) && whole.startsWith(`${cwd}/${word.replace(/^\.\/|\/+$/g, '')}/`)
    if (word === '/' || /^~\/?$/.test(word)) return true
    if (word.startsWith('~/')) return whole.includes(`/${word.slice(2).replace(/\/+$/, '')}/`)
    if (word.startsWith('/')) return whole.startsWith(`${word.replace(/\/+$/, '')}/`)
    return (word === '.' || word === './') && whole.startsWith(`${cwd}/`)
  })
}
