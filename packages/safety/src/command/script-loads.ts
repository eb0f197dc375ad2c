import { decidingFiles, programsOnPath } from '../grants.js'
import type { Word } from '../shell/script.js'
import { collectInvocations, MAX_COMMAND_CHARS } from './collect.js'
import type { CommandContext } from './context.js'
import type { Invocation } from './invocation.js'
import { PROGRAMS } from './program-tables.js'
import { interpreterOf } from './programs.js'

/** What a script of a shell has run that lies in files. */
export interface ScriptLoads {
  /** Files that it sources, or has other programs run, and where: resolved, `~` for the home folder. They may not be there. */
  readonly files: readonly { readonly path: string; readonly cwd: string; readonly isSourced: boolean }[]
  /** Names of programs that it runs and that are looked for on `PATH`. */
  readonly programs: readonly string[]
  /** Every such file is written there, so far as this can be told. */
  readonly isFollowed: boolean
}

/** Where a script lies and is started. */
interface ScriptPlace {
  /** Absolute path of the script. */
  readonly file: string
  /** What `$0` is: the script itself, or who sources it. */
  readonly started: string
  /** Absolute path of the folder that it is started in. */
  readonly cwd: string
  /** Absolute path of the person's home folder. */
  readonly userHome: string
}

/**
 * The files that a script of a shell loads by its own words: what it sources, scripts and modules that it gives to interpreters, programs
 * written as paths, recipes of build tools. `$(dirname "$0")` and the like are the folder of the script; a variable counts where it is set
 * once.
 */
export function scriptLoads(text: string, { file, started, cwd, userHome }: ScriptPlace): ScriptLoads {
  if (text.length > MAX_COMMAND_CHARS) return { files: [], programs: [], isFollowed: false }
  const context: CommandContext = { cwd, userHome, isolated: true, supposed: 'isolated' }
  const { invocations, complete } = collectInvocations(withPlaces(text, { file, started }), context)
  const found = new Map<string, ScriptLoads['files'][number]>()
  let isFollowed = complete
  for (const one of invocations) {
    if (one.program.dynamic) isFollowed = false
    const isSourced = SOURCES.test(one.name)
    if (!isSourced && !loads(one)) continue
    const at = one.context.cwd?.replace(/^~(?=\/|$)/, userHome)
    const files = at === undefined ? null : decidingFiles({ invocations: [isSourced ? sourced(one) : one] })
    if (at === undefined || files === null || !isKnown(one)) isFollowed = false
    for (const path of files ?? []) found.set(`${path}\0${at}`, { path, cwd: at!, isSourced })
  }
  return { files: [...found.values()], programs: programsOnPath({ invocations }), isFollowed }
}

const SOURCES = /^(?:source|\.)$/
const EVALUATES = /^(?:eval|xargs|parallel)$/
/** Programs that start the scripts they are given. */
const STARTS = /^(?:nodemon|pm2|vite-node|electron|babel-node|swc-node|forever|c8|nyc|mocha|ava)$/
const RECIPES = /^(?:g?make|npm|pnpm|yarn|bun|just|task|rake|tox)$/

/** Whether a program runs what is in files of its own choice. */
function loads({ name, program, args }: Invocation): boolean {
  if (PROGRAMS.shells.includes(name) || EVALUATES.test(name) || RECIPES.test(name) || STARTS.test(name)) return true
  return program.text.includes('/') || (interpreterOf(name) !== null && args.length > 0)
}

/** What is sourced is looked for from the folder, as a file that is given to a shell. */
const sourced = (one: Invocation): Invocation => ({ ...one, args: one.args.slice(0, 1), name: 'bash' })

/** Whether it stands for other names, which may come and go. */
const isGlob = ({ text, mask }: Word): boolean =>
  [...text].some((letter, at) => '*?['.includes(letter) && mask[at] !== 'q')

/** Options of shells and interpreters whose value is the next word. */
const VALUED = /^-(?:[WXrIOoEecpmM]|-(?:require|import|loader|eval|print|init-file|rcfile))$/

/** Whether it is written which file is run, or what code. */
function isKnown({ name, args, via, input }: Invocation): boolean {
  if (via !== null) return false
  const isRun = PROGRAMS.shells.includes(name) || interpreterOf(name) !== null || SOURCES.test(name)
  if (!isRun && !EVALUATES.test(name)) return true
  if (name === 'eval') return !args.some(({ dynamic }) => dynamic)
  for (let at = 0; at < args.length; at++) {
    const { text, dynamic, scripts } = args[at]!
    if (dynamic || scripts.length > 0 || (isGlob(args[at]!) && !text.startsWith('-'))) return false
    // What stands behind it is for the file.
    if (!text.startsWith('-')) return true
    if (VALUED.test(text) && args[at + 1]?.dynamic) return false
    if (VALUED.test(text)) at++
  }
  // A shell that is given nothing runs what it reads.
  return !PROGRAMS.shells.includes(name) || input.from.length === 0 || input.text !== null
}

const OWN_FILE = String.raw`"?(?:\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?(?::-\$0)?\})"?`
const OF_SOURCE = /BASH_SOURCE/

/** The text with variables of known value in the place of how a script finds itself, and none where a variable is set more than once. */
function withPlaces(text: string, { file, started }: Pick<ScriptPlace, 'file' | 'started'>): string {
  const folder = (path: string) => path.slice(0, Math.max(1, path.lastIndexOf('/')))
  const at = (own: string) => (OF_SOURCE.test(own) ? 'HERMES_SOURCE' : 'HERMES_STARTED')
  const replaced = [
    ...[new RegExp(String.raw`\$\((?:readlink -f|realpath)\s+(?:--\s+)?(${OWN_FILE})\)`, 'g')],
    ...[/\$\{(?:0|BASH_SOURCE(?:\[0\])?)%\/\*\}/g],
    ...[new RegExp(String.raw`\$\(dirname\s+(?:--\s+)?(${OWN_FILE})\)`, 'g')],
  ]
  const [self, cut, named] = replaced as [RegExp, RegExp, RegExp]
  const folders = text
    .replace(self, (_, own: string) => `$${OF_SOURCE.test(own) ? '{BASH_SOURCE}' : '{0}'}`)
    .replace(cut, (own) => `\${${at(own)}_FOLDER}`)
    .replace(named, (own) => `\${${at(own)}_FOLDER}`)
    // Twice, for one inside the other.
    .replace(GONE_TO, '$1')
    .replace(GONE_TO, '$1')
    .replace(new RegExp(OWN_FILE, 'g'), (own) => (/^"/.test(own) && /"$/.test(own) ? `"\${${at(own)}}"` : own))
  const set = [...folders.matchAll(/(?:^|[\s;&|({])([A-Za-z_]\w{0,80})\+?=/gm)].map(([, name]) => name!)
  const once = new Set<string>()
  const several = new Set(set.filter((name) => once.size === once.add(name).size))
  const known = folders.replaceAll(/\$(\{?)([A-Za-z_]\w{0,80})/g, (whole, brace: string, name: string) =>
    several.has(name) ? `$${brace}HERMES_UNKNOWN_${name}` : whole,
  )
  const values = { SOURCE: file, SOURCE_FOLDER: folder(file), STARTED: started, STARTED_FOLDER: folder(started) }
  const settings = Object.entries(values).map(([name, value]) => `HERMES_${name}='${value.replaceAll("'", "'\\''")}'`)
  return `${settings.join('\n')}\n${known}`
}

/** `$(cd FOLDER && pwd)`: the folder by its full name. */
const GONE_TO =
  /\$\(\s*(?:unset CDPATH(?:\s*(?:;|&&)\s*|\s+))?(?:CDPATH=(?:""|'')?\s+)?cd\s+(?:-P\s+)?(?:--\s+)?"?((?:[^\s"'`$();&|]|\$\{\w{1,80}\})+)"?\s*(?:>\s*\/dev\/null(?:\s*2>&1)?\s*)?(?:&&|;)\s*pwd(?:\s+-[PL])?\s*\)/g
