import type { Word } from '../shell/script.js'
import { type Collected, collectInvocations } from './collect.js'
import type { CommandContext } from './context.js'
import { isIdle } from './harmless.js'
import { addsModules, installsFromAddress } from './installs-from.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { isActivation, type KeptVariable, keptVariables } from './kept-variables.js'
import { namedHosts } from './named-hosts.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand } from './rules-git.js'
import { isBeyond } from './write-targets.js'

/** What package managers do with their registries alone, as `PROGRAM VERB`: they are reached without a question where the network is off. */
export const REGISTRY_COMMANDS = PROGRAMS.atRegistries
const REGISTRY: ReadonlySet<string> = new Set(REGISTRY_COMMANDS)

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/i

/** What one program of a command line needs of the network. */
interface NetworkNeed {
  readonly name: string
  /** Where it goes, one need for each host that the command names; `null` where it may go elsewhere, or names none. */
  readonly host: string | null
  /** `registry`: a package manager at its registries; `beside`: what usually follows one; `none`: its code would get what another one asks for. */
  readonly kind: 'registry' | 'beside' | 'far' | 'none'
}

/** What the programs of a command line that do something need of the network. */
export function networkNeeds({ invocations, functions }: Collected): readonly NetworkNeed[] {
  const ofLine = new Set(functions.filter((name) => !invocations.some((one) => mayForget(one, name))))
  return invocations.flatMap((invocation, at): NetworkNeed[] => {
    const { name, written } = invocation
    if (name === '' && written === '') return []
    // What a function of this line runs is listed with it; what it is given, it may run.
    if (ofLine.has(name) && written === name) return []
    // What a package manager runs was listed with it.
    const before = invocations[at - 1]
    if (before && PROGRAMS.besideInstallations.has(formOf(before)) && before.written.endsWith(written)) return []
    // A file of the workspace is whatever it holds, not what it is called.
    if (isOfWorkspace(invocation)) return [{ name: invocation.program.text, host: null, kind: 'none' }]
    if (isIdle(invocation) || PROGRAMS.look.has(name) || isActivation(invocation) || setsPlainly(invocation)) return []
    if (isRegistryCommand(invocation)) return [{ name, host: null, kind: 'registry' }]
    const isBeside = PROGRAMS.besideInstallations.has(formOf(invocation)) || PROGRAMS.besideInstallations.has(name)
    if (isBeside && !(name === 'go' && (installsFromAddress(invocation) || keepsSettings(invocation))))
      return [{ name, host: null, kind: 'beside' }]
    const { hosts, isWhole } = namedHosts(invocation)
    const isHere = hosts.length > 0 && hosts.every((host) => LOOPBACK.test(host))
    if (isHere || !isClient(invocation))
      return [{ name: name || (invocation.variables[0]?.name ?? written), host: null, kind: 'none' }]
    return [...hosts, ...(isWhole ? [] : [null])].map((host) => ({ name, host, kind: 'far' }))
  })
}

/** Programs of a project that its package managers put there, or that stand for one. */
const OF_PROJECT = /^(?:\.\/)?(?:(?:[\w-]+\/)*node_modules\/\.bin\/[^/]+|\.?venv\/bin\/[^/]+|(?:gradlew|mvnw))$/

function isOfWorkspace({ program, context }: Invocation): boolean {
  const { text } = program
  return text.includes('/') && !OF_PROJECT.test(text) && !isBeyond(text, context.workspace ?? [], context)
}

/** Variables that say where packages come from, by way of whom, or which program comes for them. */
const STEERS =
  /^(?:HOME|CARGO_HOME|GOFLAGS|GOENV|BASH_ENV|ENV|NETRC|PYTHON(?:PATH|HOME|STARTUP)|(?:LD|DYLD)_\w+|GIT_(?:SSH\w*|CONFIG\w*|PROXY_COMMAND|EXEC_PATH|ASKPASS)|RUSTC\w*|CARGO_\w+_(?:LINKER|RUNNER|WRAPPER)|\w*(?:INDEX|REGISTR|PROXY|FIND_LINKS)\w*|npm_config_(?:userconfig|globalconfig|script_shell|node_options|prefix|git)|PIP_CONFIG_FILE|UV_CONFIG_FILE)$/i
/** Folders that programs are looked for in, or that stand in the names of such. */
const FOLDERS =
  /^(?:PATH|GOPATH|GOROOT|GOBIN|PNPM_HOME|NVM_(?:DIR|BIN)|PYENV_ROOT|RBENV_ROOT|BUN_INSTALL|DENO_INSTALL|VOLTA_HOME|JAVA_HOME|ANDROID_HOME|VIRTUAL_ENV)$/
/** Options of Node that load no code, as they stand in `NODE_OPTIONS`. */
const PLAIN_NODE_OPTIONS =
  /^\s*(?:(?:--(?:max[-_](?:old|semi)[-_]space[-_]size|max-http-header-size|stack-trace-limit|v8-pool-size)=\d+|--(?:dns-result-order|unhandled-rejections)=[\w-]+|--(?:no|trace)-[\w-]+|--(?:enable-source-maps|inspect|openssl-legacy-provider|pending-deprecation|throw-deprecation|use-(?:bundled|openssl|system)-ca|experimental-(?:vm-modules|strip-types|transform-types|require-module|wasm-modules|import-meta-resolve|websocket|webstorage|sqlite))|\$\{?NODE_OPTIONS(?::?-)?\}?)(?:\s+|$))*$/
/** Programs that say where they keep what they install. */
const FOUND_BY =
  /^\$\((?:go env GO(?:PATH|BIN|ROOT)|brew --prefix(?: [\w@-]+)?|npm (?:bin -g|prefix -g|root -g)|yarn global bin|pnpm bin -g|gem env gemdir|python3? -m site --user-base|\/usr\/libexec\/java_home(?: -v ?[\w.]+)?|dirname "?\$\(dirname "?\$\((?:readlink -f|realpath) "?\$\((?:which|command -v) javac?\)"?\)"?\)"?|(?:py|rb)env root)\)/
/** Where programs lie within such a folder: any other may lead into the workspace, also where it is not set. */
const PROGRAMS_WITHIN =
  /^(?:\/(?:opt\/[\w@-][\w@.-]*|libexec|tools|cmdline-tools\/[\w-]+|versions\/node\/v[\w.]+))*(?:\/(?:s?bin|shims|libexec|platform-tools|emulator|tools))?\/?$/

function isSteered({ variables, context }: Invocation): boolean {
  return variables.some(({ name, value: { text } }) => steers({ name, value: text }, context))
}

/** Whether a variable leads package managers, or the names of programs, to somewhere else. */
function steers({ name, value }: KeptVariable, context: CommandContext): boolean {
  if (name === 'NODE_OPTIONS') return value === null || !PLAIN_NODE_OPTIONS.test(value)
  // Without them programs go to where they go by themselves.
  if (value === '' && name !== 'HOME' && !FOLDERS.test(name)) return false
  if (!FOLDERS.test(name)) return STEERS.test(name)
  return value === null || foldersIn(value).some((folder) => isNear(folder, context))
}

/** What stands between the colons; those within `$(…)` and `${…}` are none. */
const foldersIn = (path: string): readonly string[] => path.match(/(?:\$\([^)]*\)|\$\{[^}]*\}|[^:])+/g) ?? ['']

function isNear(folder: string, context: CommandContext): boolean {
  const path = folder.replace(/^\$(?:HOME\b|\{HOME\})/, '~')
  if (!path.startsWith('$')) return !/^[/~]/.test(path) || !isBeyond(path, context.workspace ?? [], context)
  const [start = '', variable] = /^\$\{?(\w+)\}?/.exec(path) ?? FOUND_BY.exec(path) ?? []
  const isKnown = start !== '' && (variable === undefined || FOLDERS.test(variable))
  return !isKnown || !PROGRAMS_WITHIN.test(path.slice(start.length))
}

/** Which programs may do something else, of the workspace, in a shell. */
export type Misled = 'none' | 'python' | 'all'

/** Which programs may do something else in a shell that ran this: it keeps the variables, and nothing else. */
export function misleads({ invocations }: Collected): Misled {
  const found = invocations.map((one): Misled => {
    const kept = keptVariables(one)
    if (kept === 'unknown' || keepsSettings(one)) return 'all'
    const steering = kept.filter((variable) => steers(variable, one.context))
    if (steering.length === 0) return 'none'
    return steering.every(({ name }) => OF_PYTHON.test(name)) ? 'python' : 'all'
  })
  return (['all', 'python'] as const).find((one) => found.includes(one)) ?? 'none'
}

/** Variables that Python alone reads. */
const OF_PYTHON = /^PYTHON/
/** Package managers and clients that start no Python. */
const WITHOUT_PYTHON = /^(?:go|cargo|rustup|mvn|gradle|dotnet|composer|gem|bundle|curl|wget)$/

/** Whether a command may be misled in a shell in which those programs may do something else. */
export function isMisledBy(misled: Misled, { invocations }: Collected): boolean {
  if (misled !== 'python') return misled === 'all'
  return !invocations.every((one) => {
    const { name, written, program } = one
    if (program.text.includes('/')) return false
    return (name === '' && written === '') || WITHOUT_PYTHON.test(name) || isIdle(one) || setsPlainly(one)
  })
}

/** Whether a command does nothing but set variables that lead nowhere else. */
function setsPlainly(invocation: Invocation): boolean {
  const { name, args, redirects } = invocation
  if (!/^(?:|export|declare|typeset|readonly|local)$/.test(name) || redirects.length > 0) return false
  if (!texts(args).every((word) => /^(?:-x|\w+(?:=.*)?)$/s.test(word))) return false
  const kept = keptVariables(invocation)
  return kept !== 'unknown' && !kept.some((variable) => steers(variable, invocation.context))
}

/** Whether Go keeps a setting for every later command, such as where modules come from. */
const keepsSettings = ({ name, args }: Invocation): boolean =>
  name === 'go' &&
  args.some(({ text }) => text === 'env') &&
  args.some(({ text, dynamic }) => /^--?[wu](?:=|$)/.test(text) || (dynamic && /^[$`-]/.test(text)))

/** Whether a command may take a function of that name away. */
const mayForget = ({ name, args }: Invocation, called: string): boolean =>
  name === 'unset' && args.some(({ text, dynamic }) => dynamic || text === called)

/** Whether a command is known to need more of the network than this machine, by its form. */
export function needsNetwork(command: string, context: CommandContext = {}): boolean {
  return networkNeeds(collectInvocations(command, context)).some(({ kind }) => kind === 'registry' || kind === 'far')
}

function isClient(invocation: Invocation): boolean {
  const { name, args } = invocation
  if (name === 'git') return PROGRAMS.remoteGit.includes(gitCommand(args).verb)
  if (['npm', 'pnpm', 'yarn', 'bun', 'pip', 'pip3', 'uv', 'cargo', 'go'].includes(name))
    return installsFromAddress(invocation)
  return PROGRAMS.networkClients.has(name)
}

function isRegistryCommand(invocation: Invocation): boolean {
  const { args } = invocation
  if (!REGISTRY.has(formOf(invocation)) || isSteered(invocation)) return false
  // One at an address of the command's own is none of the registries'.
  if (installsFromAddress(invocation) || texts(args).some((word) => LEADS_ELSEWHERE.test(word))) return false
  // What is known only then may be an address, or an option that names one.
  const isNamed = INSTALLS.test(formOf(invocation)) || (invocation.name === 'go' && addsModules(args))
  return !isNamed || (invocation.via === null && args.every(isKnownPackage))
}

/** What is given names of packages. */
const INSTALLS =
  /^(?:npm|pnpm|yarn|bun|deno|pip3?|uv|poetry|pdm|pipenv|cargo|go|composer|dotnet) (?:ci|i|install|add|get|update|download|require|pip|cache|mod)$/

/** A folder of the person's or of the project may be given by a variable. */
const isKnownPackage = ({ text, dynamic }: Word): boolean =>
  !dynamic || /^(?:--?[\w-]+=)?(?:\$\{?(?:HOME|PWD)\}?|\$\(pwd\))(?:\/[^$`]*)?$/.test(text)

/** Options that name other registries, what stands between, or settings that may; and addresses. */
const LEADS_ELSEWHERE =
  /^--?(?:index-url|extra-index-url|find-links|i|f|proxy|https-proxy|userconfig|globalconfig|script-shell|node-options|config-file|configfile|source|use-yarnrc|(?:config\.)?(?:@[\w.-]+:)?registry)(?:=|$)|^--config(?:=|$)|^-D[\w.]*proxyHost|:\/\//i

/** A program with its verb, or the module that Python runs: `npm test`, `pytest`. */
export function formOf({ name, args }: Invocation): string {
  const isModule = /^python[\d.]*$/.test(name) && args[0]?.text === '-m' && args[1] !== undefined
  const [program, words] = isModule ? [args[1]!.text, args.slice(2)] : [name, args]
  const [verb] = readOptions(words).operands
  return verb === undefined ? program : `${program} ${verb}`
}
