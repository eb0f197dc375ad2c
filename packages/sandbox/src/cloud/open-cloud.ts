import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { openRemoteEnvironment, type RemoteOptions } from '../remote/remote-environment.js'
import { type Cloud, CloudHost } from './cloud-host.js'

/** What all environments in a cloud are opened with. */
export interface CloudOptions extends RemoteOptions {
  /** Which work it is for: one sandbox for each task and profile, shared by all that open it. Default `default`. */
  readonly task?: string
  /** Default `default`. */
  readonly profile?: string
  /** Whether the files stay for whoever opens the same task next; else the sandbox is removed with its last user. Default `true`. */
  readonly persistent?: boolean
  /** Seconds of rest until the sandbox is stopped. Default 300. */
  readonly idleSeconds?: number
  /** Cores. Default: the service's. */
  readonly cpus?: number
  /** Default: the service's. */
  readonly memoryMb?: number
}

const DEFAULT_IDLE_SECONDS = 300

/** How long the sandbox may rest. */
export const idleSecondsOf = ({ idleSeconds = DEFAULT_IDLE_SECONDS }: CloudOptions): number => idleSeconds

/** Labels that tell whose a sandbox is. */
export function cloudLabels({ task = 'default', profile = 'default' }: CloudOptions) {
  return { 'hermes.managed': '1', 'hermes.task': task, 'hermes.profile': profile }
}

/** The name of the sandbox for a task and profile: letters, digits and dashes, 63 at most. */
export function sandboxName({ task = 'default', profile = 'default' }: CloudOptions): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([profile, task]))
    .digest('hex')
    .slice(0, 12)
  const readable = task
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `hermes-${readable === '' ? '' : `${readable}-`}${digest}`.toLowerCase()
}

/** Opens an environment in a sandbox of `cloud`. @throws HermesError as {@link openRemoteEnvironment}, or what the cloud makes of a failure. */
export async function openCloudEnvironment(cloud: Cloud, options: CloudOptions): Promise<Environment> {
  const { clock = systemClock, logger = silentLogger, persistent = true, outputDir } = options
  const leaseDir = join(outputDir, 'users', sandboxName(options))
  const host = new CloudHost({ cloud, idleSeconds: idleSecondsOf(options), persistent, leaseDir, clock, logger })
  return openRemoteEnvironment(host, { ...options, login: false })
}
