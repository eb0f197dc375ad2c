import type { Environment, ExecResult } from '@hermes/contracts/environment'
import { needsOutside } from '@hermes/safety'

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

/** What isolation has programs say, and what commands in it cannot do. */
const FAILURES: readonly (readonly [said: RegExp, cannot: string])[] = [
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
  [/^bwrap: Can't chdir/m, 'see this folder'],
]
const NO_NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|Name or service not known/i

/** What isolation probably kept a failed command from, in a line that says how to go on; `null` where it is not to blame. */
export function isolationNote(
  { output, exitCode }: Pick<ExecResult, 'output' | 'exitCode'>,
  { capabilities }: Pick<Environment, 'capabilities'>,
): string | null {
  if (exitCode === 0 || !(capabilities.outside ?? false)) return null
  const failures = capabilities.offline ? [...FAILURES, [NO_NETWORK, 'reach the network'] as const] : FAILURES
  const cannot = failures.find(([said]) => said.test(output))?.[1]
  if (cannot === undefined) return null
  return `[isolated commands cannot ${cannot}. If this one has to, run it again with outside=true: the user is asked.]`
}
