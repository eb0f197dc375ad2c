import { type Collected, collectInvocations } from './collect.js'
import type { CommandContext } from './context.js'
import { isIdle } from './harmless.js'
import { installsFromAddress } from './installs-from.js'
import { type Invocation, readOptions, texts } from './invocation.js'
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
export function networkNeeds({ invocations }: Collected): readonly NetworkNeed[] {
  return invocations.flatMap((invocation, at): NetworkNeed[] => {
    const { name, written } = invocation
    if (name === '' && written === '') return []
    // What a package manager runs was listed with it.
    const before = invocations[at - 1]
    if (before && PROGRAMS.besideInstallations.has(formOf(before)) && before.written.endsWith(written)) return []
    // A file of the workspace is whatever it holds, not what it is called.
    if (isOfWorkspace(invocation)) return [{ name: invocation.program.text, host: null, kind: 'none' }]
    if (isIdle(invocation) || PROGRAMS.look.has(name)) return []
    if (isRegistryCommand(invocation)) return [{ name, host: null, kind: 'registry' }]
    if (PROGRAMS.besideInstallations.has(formOf(invocation)) || PROGRAMS.besideInstallations.has(name))
      return [{ name, host: null, kind: 'beside' }]
    const { hosts, isWhole } = namedHosts(invocation)
    const isHere = hosts.length > 0 && hosts.every((host) => LOOPBACK.test(host))
    if (isHere || !isClient(invocation)) return [{ name, host: null, kind: 'none' }]
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
  /^(?:HOME|CARGO_HOME|GOFLAGS|BASH_ENV|ENV|NETRC|\w*(?:INDEX|REGISTR|PROXY|FIND_LINKS)\w*|npm_config_(?:userconfig|globalconfig|script_shell|node_options|prefix)|PIP_CONFIG_FILE|UV_CONFIG_FILE)$/i

function isSteered({ variables, context }: Invocation): boolean {
  const isNear = (folder: string) => !/^[/~$]/.test(folder) || !isBeyond(folder, context.workspace ?? [], context)
  return variables.some(({ name, value: { text } }) =>
    name === 'PATH' ? text.split(':').some((folder) => !folder.startsWith('$') && isNear(folder)) : STEERS.test(name),
  )
}

/** Whether names of programs may mean others, of the workspace, in a shell that ran this. */
export function misleads({ invocations, functions }: Collected): boolean {
  return functions.length > 0 || invocations.some((one) => redefines(one) || (isKept(one) && isSteered(one)))
}

/** What sets variables for later commands too; in front of a program they are for that one alone. */
const isKept = ({ name }: Invocation): boolean => /^(?:|export|declare|typeset|readonly)$/.test(name)

function redefines({ name, args }: Invocation): boolean {
  const words = texts(args)
  if (name === 'alias') return words.some((word) => word.includes('='))
  return (name === 'hash' && words.includes('-p')) || (name === 'enable' && words.includes('-f'))
}

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
  return (
    !installsFromAddress(invocation) &&
    !texts(args).some((word) => /^(?:--?(?:index-url|extra-index-url|registry|find-links|i|f))(?:=|$)|:\/\//.test(word))
  )
}

/** A program with its verb, or the module that Python runs: `npm test`, `pytest`. */
export function formOf({ name, args }: Invocation): string {
  const isModule = /^python[\d.]*$/.test(name) && args[0]?.text === '-m' && args[1] !== undefined
  const [program, words] = isModule ? [args[1]!.text, args.slice(2)] : [name, args]
  const [verb] = readOptions(words).operands
  return verb === undefined ? program : `${program} ${verb}`
}
