import type { Environment } from '@hermes/contracts/environment'
import { isSdkInstalled, sdkMissing } from '../cloud/load-sdk.js'
import { openCloudEnvironment } from '../cloud/open-cloud.js'
import { DaytonaCloud } from './daytona-cloud.js'
import type { DaytonaOptions } from './daytona-options.js'

/**
 * Opens an environment in a sandbox of Daytona, by the package `@daytona/sdk`: the one there is for the task and profile, started again when
 * it was stopped, else a new one.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `not_found` (the working directory).
 */
export async function openDaytonaEnvironment(options: DaytonaOptions): Promise<Environment> {
  return openCloudEnvironment(new DaytonaCloud(options), options)
}

/** Whether the package is there and the key is taken. @throws HermesError when not. */
export async function probeDaytona(options: DaytonaOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('@daytona/sdk')) throw sdkMissing('@daytona/sdk', 'not found')
  if (!how.isOffline) await new DaytonaCloud(options).ask()
}
