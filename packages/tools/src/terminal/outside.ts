import type { TextSource } from '@hermes/contracts/conversation'
import type { Environment, ExecResult } from '@hermes/contracts/environment'
import type { ToolContext, ToolPlanContext } from '@hermes/contracts/tool'
import { isSecretPath, needsNetwork, needsOutside, outputSources, writtenPaths } from '@hermes/safety'
import { ownFiles } from '@hermes/sandbox'

/** Whether a call runs outside the isolation: because the model says so, or because the command is known to need more. */
export function runsOutside(
  { command, outside, workdir }: { readonly command: string; readonly outside?: boolean; readonly workdir?: string },
  environment: Pick<Environment, 'capabilities' | 'cwd' | 'resolve'>,
): boolean {
  if (outside === false) return false
  const { capabilities } = environment
  if (!(capabilities.outside ?? false)) return false
  const cwd = workdir === undefined ? environment.cwd() : environment.resolve(workdir)
  const { writable } = capabilities
  return (
    outside ?? needsOutside(command, { cwd, userHome: environment.resolve('~'), ...(writable ? { writable } : {}) })
  )
}

/** How an isolated call has the network where it is off once text from outside was read; nothing where that is not the question. */
export function networkOf(
  call: { readonly command: string; readonly outside?: boolean; readonly workdir?: string },
  { environment, isTainted }: Pick<ToolPlanContext, 'environment' | 'isTainted'>,
): { readonly network?: 'on' | 'off' } {
  if (!(environment.capabilities.asksForNetwork ?? false) || !isTainted || runsOutside(call, environment)) return {}
  const cwd = call.workdir === undefined ? environment.cwd() : environment.resolve(call.workdir)
  return { network: needsNetwork(call.command, { cwd, userHome: environment.resolve('~') }) ? 'on' : 'off' }
}

const SHOWN_COMMAND_CHARS = 120

/** Where what a call prints comes from: its command, by how far it could reach, and files it names beyond the folder it runs in. */
export function commandSources(
  call: { readonly command: string; readonly outside?: boolean; readonly workdir?: string },
  context: Pick<ToolPlanContext, 'environment' | 'isTainted'>,
): readonly TextSource[] {
  const { environment } = context
  const cwd = call.workdir === undefined ? environment.cwd() : environment.resolve(call.workdir)
  const command = call.command.slice(0, SHOWN_COMMAND_CHARS).toWellFormed()
  const isLocal = environment.backend === 'local'
  if (!isLocal || runsOutside(call, environment)) return [{ type: 'command', command, cwd, reach: 'outside' }]
  const { staysHere, beyond, readsKeys, readsUnknown } = outputSources(call.command, {
    cwd,
    userHome: environment.resolve('~'),
  })
  // Whatever it opens may lie anywhere on this machine.
  if (readsUnknown) return [{ type: 'command', command, cwd, reach: 'outside' }]
  const isOffline = (environment.capabilities.offline ?? false) || networkOf(call, context).network === 'off'
  const reach = isOffline || staysHere ? 'machine' : 'network'
  const keys = readsKeys ? [{ type: 'keys', name: `the keys that were read by ${command}` } as const] : []
  return [{ type: 'command', command, cwd, reach }, ...keys, ...beyond.map((path) => ({ type: 'file', path }) as const)]
}

/**
 * Begins to follow what a call prints and writes beyond its folder. `settle` says, once it has ended, where what it printed came from: as
 * {@link commandSources}, by what is there. Files that it made are the session's from then on, with the same sources.
 */
export async function followSources(
  call: { readonly command: string; readonly workdir?: string },
  sources: readonly TextSource[],
  context: Pick<ToolContext, 'environment' | 'state'>,
): Promise<{ settle(): Promise<readonly TextSource[]> }> {
  const { environment, state } = context
  if (environment.backend !== 'local' || sources.some(isForeign)) return { settle: async () => sources }
  const cwd = call.workdir === undefined ? environment.cwd() : environment.resolve(call.workdir)
  const realOf = (path: string) => environment.realpath(path).catch(() => path)
  const statOf = (path: string) => environment.stat(path).catch(() => null)
  const folder = await realOf(cwd)
  const isBeyond = (path: string) => path !== folder && !path.startsWith(`${folder.replace(/\/$/, '')}/`)
  const reals = async (paths: readonly string[]) => (await Promise.all(paths.map(realOf))).filter(isBeyond)
  /** What it may make, with what was in there: nothing of a new file, and of others only what is the session's own. */
  const made = new Map<string, readonly TextSource[]>()
  for (const path of await reals(writtenPaths(call.command, { cwd }))) {
    const stat = await statOf(path)
    const before = stat === null ? [] : ownFiles(state).sourcesOf(path, stat.version)
    if (before) made.set(path, before)
  }
  return {
    async settle() {
      const { within } = outputSources(call.command, { cwd, userHome: environment.resolve('~') })
      const linked = (await reals(within)).map((path) => ({ type: 'file', path }) as const)
      const read: TextSource[] = []
      for (const source of [...sources, ...linked]) {
        const real = source.type === 'file' ? await realOf(source.path) : null
        const stat = real === null ? null : await statOf(real)
        const own =
          real === null ? undefined : (made.get(real) ?? (stat && ownFiles(state).sourcesOf(real, stat.version)))
        read.push(...(own ?? [source]))
      }
      for (const [path, before] of made) {
        const stat = await statOf(path)
        if (stat?.type === 'file') ownFiles(state).note(path, stat.version, [...read, ...before])
      }
      return read
    },
  }
}

/** What taints whatever else there is. */
const isForeign = (source: TextSource): boolean =>
  source.type === 'keys' || (source.type === 'command' && source.reach !== 'machine')

/** Where the text of a file comes from; one of keys counts by itself. Files of other machines are not known. */
export function fileSources(
  path: string,
  { environment }: Pick<ToolPlanContext, 'environment'>,
): readonly TextSource[] | undefined {
  if (environment.backend !== 'local') return undefined
  const full = environment.resolve(path)
  const home = environment.resolve('~')
  const inHome = full.startsWith(`${home}/`) ? `~${full.slice(home.length)}` : full
  const keys = isSecretPath(inHome) ? [{ type: 'keys', name: `the keys in ${full}` } as const] : []
  return [...keys, { type: 'file', path: full }]
}

/** What isolation has programs say, and what commands in it cannot do. */
const FAILURES: readonly (readonly [text: RegExp, cannot: string])[] = [
  [
    /Read-only file system|\bEROFS\b|\[Errno 30\]|Could not create local repository/i,
    'write outside the workspace and temporary folders',
  ],
  [
    /Permission denied \(publickey|Host key verification failed|could not read (?:Username|Password)|failed to sign the data|failed to write commit object|Unable to locate credentials|\bE401\b|\bENEEDAUTH\b/i,
    'see keys or logins of the user',
  ],
  [
    /\.(?:ssh|gnupg|aws|azure|kube|docker|npmrc|netrc|pypirc|git-credentials|config\/(?:gh|gcloud))\b.*(?:No such file|Permission denied|ENOENT|EACCES)/i,
    'see keys or logins of the user',
  ],
  [
    /Cannot connect to the (?:Docker|Podman)|docker\.sock|to connect to (?:system |user )?(?:scope )?bus|on socket "\/(?:var\/)?run\/|through socket '\/(?:var\/)?run\/|no new privileges|sudo: .*(?:effective uid|setuid)|setgroups/i,
    'reach services of this machine or take rights',
  ],
  [
    /[\s'"]\/[^\s'"]+['"]?[^\n]{0,20}(?:Connection refused|\(111\))|\bECONNREFUSED \//i,
    'reach the socket of another program (terminal.isolation_write with its path opens it for good)',
  ],
  [/^bwrap: Can't chdir/m, 'see this folder'],
]
/** The isolation could not be set up, and the command did not run: outside it would run for a reason that is none. */
const NOT_MOUNTED = /^bwrap: Can't (?!chdir)/m
const NO_NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|Name or service not known|\bENOTFOUND\b|getaddrinfo|nodename nor servname/i

/** How programs say that they could not open something. */
const NOT_SEEN =
  /No such file|Permission denied|not permitted|not found|\bENOENT\b|\bEACCES\b|\bEPERM\b|\bEROFS\b|(?:cannot|could not|unable to|failed to) (?:open|read|access|stat|load|find|write)/i
const PATHS = /(?:~|\/)[^\s'"`:;,()<>|&=]+/g
const MOST_CHARS = 20_000
const MOST_PATHS = 40

/** A path the command could not see because it is hidden, as the command or its output names it; `null` for none. */
function hiddenPath(
  { output }: Pick<ExecResult, 'output'>,
  command: string,
  environment: Pick<Environment, 'capabilities' | 'resolve'>,
): string | null {
  const { hides } = environment.capabilities
  const end = output.slice(-MOST_CHARS)
  if (!hides || !NOT_SEEN.test(end)) return null
  const text = end.split('\n').filter((line) => NOT_SEEN.test(line))
  const named = [...text, command.slice(0, MOST_CHARS).replaceAll(/\$\{?HOME\}?(?=\/)/g, '~')]
  const paths = named.flatMap((text) => text.match(PATHS) ?? []).slice(0, MOST_PATHS)
  return paths.find((path) => hides(environment.resolve(path))) ?? null
}

/** What isolation probably kept a failed command from, in a line that says how to go on; `null` where it is not to blame. */
export function isolationNote(
  { output, exitCode }: Pick<ExecResult, 'output' | 'exitCode'>,
  environment: Pick<Environment, 'capabilities' | 'resolve'>,
  { command = '', network }: { readonly command?: string; readonly network?: 'on' | 'off' } = {},
): string | null {
  const { capabilities } = environment
  if (exitCode === 0 || !(capabilities.outside ?? false)) return null
  if (NOT_MOUNTED.test(output)) return null
  const hidden = hiddenPath({ output }, command, environment)
  if (hidden !== null)
    return `[isolated commands cannot see ${hidden}. If this one has to, run it again with outside=true: the user is asked; terminal.isolation_read shows it for good.]`
  const isOffline = (capabilities.offline ?? false) || network === 'off'
  const failures = isOffline ? [...FAILURES, [NO_NETWORK, 'reach the network'] as const] : FAILURES
  const cannot = failures.find(([text]) => text.test(output))?.[1]
  if (cannot === undefined) return null
  return `[isolated commands cannot ${cannot}. If this one has to, run it again with outside=true: the user is asked.]`
}
