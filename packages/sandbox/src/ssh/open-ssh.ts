import { systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { openRemoteEnvironment, type RemoteOptions } from '../remote/remote-environment.js'
import { SshHost, type SshTarget } from './ssh-host.js'

/** What {@link openSshEnvironment} needs. Nothing is read from this program's own environment. */
export interface SshOptions extends SshTarget, RemoteOptions {
  /** Variables of the ssh client itself, for example `PATH`, `HOME` and `SSH_AUTH_SOCK`; the other side does not get them. */
  readonly clientEnv: Readonly<Record<string, string>>
  /** Where the shared connection's socket goes; a short path. Default `/tmp`. */
  readonly socketDir?: string
}

/**
 * Logs in to a machine and opens an environment there, by the system's `ssh`. Nothing is asked: what needs a password or a yes fails.
 * @throws HermesError `environment.host_key_changed`, `host_key_unknown`, `auth_failed`, `connection_refused`, `connect_timeout`,
 * `unknown_host`, `unreachable`, `connection_lost`, `not_found` (the working directory), `client_missing`, `invalid_host`.
 */
export async function openSshEnvironment(options: SshOptions): Promise<Environment> {
  const { clock = systemClock, socketDir = '/tmp' } = options
  return openRemoteEnvironment(new SshHost({ ...options, clock, socketDir }), { ...options, login: true })
}
