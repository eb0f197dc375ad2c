import type { Action, Subject } from '@hermes/contracts/policy'
import type { Collected } from './command/collect.js'
import { resolveShellPath } from './command/context.js'
import { type Invocation, texts } from './command/invocation.js'
import { keptVariables } from './command/kept-variables.js'
import { payloads } from './command/payloads.js'
import { PROGRAMS } from './command/program-tables.js'
import { interpreterOf } from './command/programs.js'
import { namedFolders } from './command/wrappers.js'
import { commandText } from './describe-action.js'
import { escapeGlob } from './glob.js'
import type { PermissionRule } from './rules.js'
import type { Redirect } from './shell/script.js'
import { visibleText } from './visible-text.js'

/** What a grant is made of, beside the action. */
interface GrantFacts {
  readonly subject: Subject
  /** The command of a spawn, taken apart. */
  readonly collected: Collected | null
  /** SHA-256 over the files the command names; `null` where it names none, `unknown` where they could not be read. */
  readonly digest: string | null
}

/** Said instead of a digest where the files of a command are out of reach. */
export const UNKNOWN_DIGEST = 'unknown'

/** Programs that hand their words on to others, which nothing about themselves binds. */
const HANDS_ON: ReadonlySet<string> = new Set([
  ...['vagrant', 'adb', 'ansible', 'machinectl', 'lxc', 'incus', 'proot', 'bwrap'],
  ...[
    'find',
    'fd',
    'fdfind',
    'awk',
    'gawk',
    'eval',
    'source',
    '.',
    'parallel',
    'xargs',
    'ssh',
    'mosh',
    'alias',
    'trap',
  ],
])

const CONTAINERS = /^(?:docker(?:-compose)?|podman(?:-compose)?|nerdctl|kubectl|oc|heroku|fly|flyctl|gcloud)$/

/**
 * The rule that an "always" writes: this command in this folder, with these contents of what it runs; this path; this origin by this method.
 * `null` where no lasting rule says what was clicked: for wrappers, for what is known only when it runs, for somebody a rule cannot name.
 */
export function grantOf(action: Action, { subject, collected, digest }: GrantFacts): PermissionRule | null {
  const whose = nameOf(subject)
  if (whose === null) return null
  const allow = (pattern: string): PermissionRule | null => {
    // What a screen would not show as it is, nobody clicked.
    return visibleText(pattern) === pattern ? { pattern: `${pattern}${whose}`, effect: 'allow' } : null
  }
  switch (action.type) {
    case 'spawn': {
      const folder = folderOf(action)
      if (collected === null || !isPlain(collected) || folder === null || digest === UNKNOWN_DIGEST) return null
      const name = action.outside ? 'terminal_outside' : 'terminal'
      const bound = digest === null ? '' : ` with sha256-${digest}`
      return allow(`${name}(${escapeGlob(commandText(action).trim())}) in "${folder}"${bound}`)
    }
    case 'read':
      return allow(`file.read(${escapeGlob(action.path)})`)
    case 'write':
      // `file.write` by itself covers deleting too.
      return allow(`file.write(${escapeGlob(action.path)}) by ${action.operation.toUpperCase()}`)
    case 'fetch': {
      const method = action.method.toUpperCase()
      if (!/^[A-Z]+$/.test(method)) return null
      return allow(`web(${escapeGlob(new URL(action.url).origin)}/*) by ${method}`)
    }
    case 'send':
      return allow(`send(${escapeGlob(action.target)})`)
    default:
      return action satisfies never
  }
}

/** A grant of somebody with a name is for nobody else; `null` for a name that a pattern cannot hold. */
function nameOf({ user }: Subject): string | null {
  if (user === undefined) return ''
  return /^[^\s()*?\\]+$/.test(user) ? ` for ${user}` : null
}

/** The folder as a rule names it: with the backend where it is not one of this machine. */
function folderOf({ backend, cwd }: Extract<Action, { type: 'spawn' }>): string | null {
  const folder = backend === 'local' ? cwd : `${backend}:${cwd}`
  return /["()\\]|[\p{Cc}]/u.test(folder) ? null : folder
}

/** Whether every program of a line is written as it runs, and all its words are known. */
function isPlain({ invocations, forkBombs, complete }: Collected): boolean {
  return complete && forkBombs.length === 0 && invocations.length > 0 && invocations.every(isWritten)
}

function isWritten(invocation: Invocation): boolean {
  const { name, program, args, redirects, written, via, elevated, variables } = invocation
  if (via !== null || elevated || variables.length > 0 || HANDS_ON.has(name)) return false
  if (CONTAINERS.test(name) && texts(args).some((word) => /^(?:run|exec|attach|cp|debug)$/.test(word))) return false
  const words = [program, ...args, ...redirects.map(({ target }) => target)]
  if (words.some(({ dynamic, mask }) => dynamic || mask.includes('d'))) return false
  if (redirects.some(expands)) return false
  const isSame = written === [program.text, ...texts(args)].join(' ').trim()
  return isSame && payloads(invocation).length === 0
}

/** Whether the text of a here-document may be another one each time. */
export function expands({ body, target }: Redirect): boolean {
  return body !== null && !target.mask.includes('q') && /[$`]/.test(body)
}

/** Files that say what some programs do, without being named. */
const RECIPES: Readonly<Record<string, readonly string[]>> = Object.freeze({
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  gmake: ['GNUmakefile', 'makefile', 'Makefile'],
  npm: ['package.json', '.npmrc'],
  pnpm: ['package.json', '.npmrc', 'pnpm-workspace.yaml', '.pnpmfile.cjs'],
  yarn: ['package.json', '.yarnrc.yml', '.yarnrc'],
  bun: ['package.json', 'bunfig.toml'],
  deno: ['deno.json', 'deno.jsonc'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  rake: ['Rakefile'],
  tox: ['tox.ini', 'pyproject.toml'],
  cargo: ['Cargo.toml', 'build.rs', '.cargo/config.toml'],
  poetry: ['pyproject.toml'],
  uv: ['pyproject.toml'],
  gradle: ['build.gradle', 'build.gradle.kts'],
  mvn: ['pom.xml'],
  terraform: ['main.tf'],
})
/** These go up to the folder that has one. */
const CLIMBS = /^(?:npm|pnpm|yarn|bun|deno|just|task|rake|cargo|uv|poetry)$/
/** In a path of {@link decidingFiles}: what stands behind it is a recipe that is run; with the first, the nearest in the folder or above it. */
export const [NEAREST, HERE] = ['^', '^.'] as const
/** Names of recipes that may be given as words. */
const RECIPE_NAME = /\.(?:mk|mak|just)$|(?:^|[/._-])(?:[Mm]akefile|justfile|package\.json)\b[^/]*$/
/** Words by which they take recipes from folders that are not named: those of other packages, or a list of folders. */
const ELSEWHERE: readonly (readonly [programs: RegExp, words: RegExp])[] = Object.freeze([
  [
    /^(?:npm|pnpm|yarn|bun)$/,
    /^(?:-w|-ws|--workspaces?|-r|--recursive|-F|--filter(?:-prod)?|workspaces?|foreach)(?:=|$)/,
  ],
  [/^g?make$/, /^(?:-I|--include-dir)/],
])
const OF_THE_SYSTEM = /^\/(?:usr|opt|bin|sbin|lib|snap|nix|System|Library)\//
/** Of files and folders; what names more of them gets no lasting grant. */
const MAX_FILES = 400

/** Files that decide about a folder that a program is given as what to run or to install. */
const OF_FOLDERS = Object.freeze([
  ...['package.json', 'index.js', 'setup.py', 'pyproject.toml', '__main__.py', 'Cargo.toml', 'build.rs', 'Makefile'],
  ...['go.mod', 'main.go', 'action.yml', 'Dockerfile', 'docker-compose.yml', 'compose.yaml'],
])

/**
 * Files that decide what a command does: programs written as paths, scripts and other files it is given or reads, recipes at hand and in
 * folders it is given. Resolved; see {@link NEAREST} for `FOLDER/^/NAME`. `null` where they are too many to be told apart, or are not known.
 */
export function decidingFiles({ invocations }: Pick<Collected, 'invocations'>): readonly string[] | null {
  let isKnown = true
  const files = invocations.flatMap(({ name, program, args, redirects, context }) => {
    const own = program.text.includes('/') && !OF_THE_SYSTEM.test(program.text) ? [program.text] : []
    const input = texts(args).flatMap((word) => [word, word.replace(/^(?:--?[\w-]+=|-\w|@|\w+=)/, '')])
    const isRun = interpreterOf(name) !== null
    // An interpreter runs what lies in a folder, or in a module, that is named without a dot or slash in front.
    const folders = [...new Set(input.filter((word) => /^[.~/]/.test(word) || (isRun && /^\w/.test(word))))]
    const modules = isRun ? input.filter((word) => /^\w+(?:\.\w+)*$/.test(word)).flatMap(filesOfModule) : []
    const inFolders = folders.flatMap((folder) => OF_FOLDERS.map((file) => `${folder}/${file}`))
    const read = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
    const places = Object.hasOwn(RECIPES, name) ? namedFolders(name, args) : []
    // What stands behind it is for the script.
    const end = texts(args).indexOf('--')
    const forItself = texts(args).slice(0, end === -1 ? undefined : end)
    const looksElsewhere = ELSEWHERE.find(([programs]) => programs.test(name))?.[1]
    if (places.some(({ dynamic }) => dynamic) || forItself.some((word) => looksElsewhere?.test(word))) isKnown = false
    const place = texts(places).reduce((at, to) => resolveShellPath(to, { ...context, cwd: at }), context.cwd ?? '.')
    const above = CLIMBS.test(name) ? NEAREST : HERE
    const recipes = Object.hasOwn(RECIPES, name)
      ? [
          ...RECIPES[name]!.map((recipe) => `${place}/${above}/${recipe}`),
          ...input
            .filter((word) => !word.startsWith('-') && RECIPE_NAME.test(word))
            .flatMap((word) => [place, context.cwd ?? '.'].map((at) => resolveShellPath(word, { ...context, cwd: at })))
            .map((path) => path.replace(/\/(?=[^/]*$)/, `/${HERE}/`)),
        ]
      : []
    // What is no script of theirs may be a program that was installed there.
    const installed = /^(?:pnpm|yarn|bun)$/.test(name)
      ? input
          .filter((word) => /^[\w@][\w./-]*$/.test(word))
          .map((word) => `${place}/${above}/node_modules/.bin/${word}`)
      : []
    const paths = [...own, ...input, ...inFolders, ...modules, ...read, ...recipes, ...installed]
    return paths
      .filter((path) => path !== '' && !path.startsWith('-'))
      .map((path) => resolveShellPath(path, context))
      .filter((path) => /^[/~]/.test(path))
  })
  const found = [...new Set(files)]
  return !isKnown || found.length > MAX_FILES ? null : found
}

/** Where `python -m NAME` finds what it runs, beside the folders that its installation has. */
function filesOfModule(name: string): readonly string[] {
  const path = name.replaceAll('.', '/')
  return [`${path}.py`, `${path}/__init__.py`, `${path}/__main__.py`]
}

/** Names of programs that are looked for on `PATH`, those of wrappers included. */
export function programsOnPath({ invocations }: Pick<Collected, 'invocations'>): readonly string[] {
  const names = invocations.flatMap(({ name, program, layers, via }) => [
    ...(name !== '' && !program.text.includes('/') ? [name] : []),
    ...layers.map((layer) => layer.split(' ')[0]!),
    ...(via === 'xargs' ? ['xargs'] : []),
  ])
  return [...new Set(names)].filter((name) => /^[\w.+-]+$/.test(name))
}

/** Whether a command runs something that files decide about: a script, a program written as a path, a recipe. */
export function namesScript({ invocations }: Collected): boolean {
  return invocations.some(
    ({ name, program, args }) =>
      (program.text.includes('/') && !OF_THE_SYSTEM.test(program.text)) ||
      Object.hasOwn(RECIPES, name) ||
      // A shell that is given nothing reads its input.
      PROGRAMS.shells.includes(name) ||
      (interpreterOf(name) !== null && args.some(({ text }) => !text.startsWith('-'))),
  )
}

/** Variables by which a shell finds programs, by which programs become others, or which have interpreters load other code. */
const LOOKUP =
  /^(?:PATH|ENV|BASH_(?:ENV|ALIASES|CMDS)|LD_(?:PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_\w+|PYTHON(?:PATH|HOME|STARTUP|USERBASE|PLATLIBDIR|BREAKPOINT|WARNINGS)|NODE_(?:OPTIONS|PATH)|BUN_OPTIONS|PERL5?(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|LUA_\w*PATH\w*|LUA_INIT\w*|CLASSPATH|_?J\w*AVA_(?:TOOL_)?OPTIONS|MAKEFLAGS|MAKEFILES|MAKE|SHELL|CC|CXX|CPP|LD|AR|AS|RM|npm_config_\w+)$/

/** Whether a command changes which programs later ones of the same shell find. One that cannot be followed may. */
export function changesLookup({ invocations, functions, complete }: Collected): boolean {
  if (!complete || functions.length > 0) return true
  return invocations.some((one) => {
    const kept = keptVariables(one)
    return redefines(one) || kept === 'unknown' || kept.some(({ name }) => LOOKUP.test(name))
  })
}

function redefines({ name, args }: Invocation): boolean {
  const words = texts(args)
  switch (name) {
    case 'alias':
      return words.some((word) => word.includes('='))
    case 'unalias':
    case 'enable':
      return words.length > 0
    case 'hash':
      return words.some((word) => /^-\w*p/.test(word))
    case 'unset':
      return words.some((word) => /^-\w*f/.test(word))
    default:
      return false
  }
}
