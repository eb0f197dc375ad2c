import type { Environment, ExecResult } from '@hermes/contracts/environment'
import { needsOutside } from '@hermes/safety'

/** Whether a call runs outside the isolation: because the model says so, or because the command is known to need more. */
export function runsOutside(
  { command, outside }: { readonly command: string; readonly outside?: boolean },
  { capabilities }: Pick<Environment, 'capabilities'>,
): boolean {
  return (outside ?? needsOutside(command)) && (capabilities.outside ?? false)
}

const WRITES = /Read-only file system|\bEROFS\b|\[Errno 30\]/i
const KEYS =
  /Permission denied \(publickey|Host key verification failed|could not read (?:Username|Password)|failed to sign the data|Unable to locate credentials|\bE401\b|\bENEEDAUTH\b|\.(?:ssh|gnupg|aws|azure|kube|docker|npmrc|netrc|pypirc|git-credentials|config\/(?:gh|gcloud))\b[^\n]*(?:No such file|Permission denied|ENOENT|EACCES)/i
const SERVICES =
  /Cannot connect to the (?:Docker|Podman)|Failed to connect to (?:system |user )?bus|setgid|sudo: .*(?:no new privileges|effective uid|setuid)/i
const SIGHT = /^bwrap: Can't chdir/m
const NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|Name or service not known/i

/** What isolation probably kept a failed command from, in a line that says how to go on; `null` where it is not to blame. */
export function isolationNote(result: ExecResult, { capabilities }: Pick<Environment, 'capabilities'>): string | null {
  const { output, exitCode } = result
  if (exitCode === 0 || !(capabilities.outside ?? false)) return null
  const blocked = WRITES.test(output)
    ? 'can write the workspace and temporary folders only'
    : KEYS.test(output)
      ? 'see no keys or logins of the user'
      : SERVICES.test(output)
        ? 'reach no services of this machine'
        : SIGHT.test(output)
          ? 'do not see this folder'
          : (capabilities.offline ?? false) && NETWORK.test(output)
            ? 'have no network'
            : null
  return (
    blocked && `[isolated commands ${blocked}. If this one has to, run it again with outside=true: the user is asked.]`
  )
}
