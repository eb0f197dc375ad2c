import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { isSdkInstalled, sdkMissing } from '../cloud/load-sdk.js'
import { openCloudEnvironment } from '../cloud/open-cloud.js'
import { VercelCloud } from './vercel-cloud.js'
import type { VercelOptions } from './vercel-options.js'

const RUNTIMES = ['node24', 'node22', 'python3.13']
/** The default of `terminal.container_disk`, which means nobody asked for a size. */
const UNASKED_DISK_MB = 51_200
const DEFAULT_CWD = '/vercel/sandbox'

/**
 * Opens an environment in a sandbox of Vercel, by the package `@vercel/sandbox`: the one there is for the task and profile, resumed from its
 * snapshot when it was stopped, else a new one.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `invalid_option`, `not_found` (the working directory).
 */
export async function openVercelEnvironment(options: VercelOptions): Promise<Environment> {
  const { runtime = 'node24', diskMb = 0, clock = systemClock, logger = silentLogger } = options
  if (!RUNTIMES.includes(runtime)) throw invalid(`There is no runtime "${runtime}"; it can be ${RUNTIMES.join(', ')}.`)
  if (diskMb !== 0 && diskMb !== UNASKED_DISK_MB)
    throw invalid('The disk of a Vercel sandbox has one size; leave terminal.container_disk out.')
  const cloud = new VercelCloud({ ...options, runtime, clock, logger })
  return openCloudEnvironment(cloud, { ...options, cwd: options.cwd ?? DEFAULT_CWD })
}

/** Whether the package is there and the credentials are taken. @throws HermesError when not. */
export async function probeVercel(options: VercelOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('@vercel/sandbox')) throw sdkMissing('@vercel/sandbox', 'not found')
  if (how.isOffline) return
  const { runtime = 'node24', clock = systemClock, logger = silentLogger } = options
  await new VercelCloud({ ...options, runtime, clock, logger }).ask()
}

function invalid(line: string): HermesError {
  return new HermesError(line, { code: 'environment.invalid_option' })
}
