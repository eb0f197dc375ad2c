import { silentLogger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { isSdkInstalled, sdkMissing } from '../cloud/load-sdk.js'
import { openCloudEnvironment } from '../cloud/open-cloud.js'
import { ModalCloud } from './modal-cloud.js'
import type { ModalOptions } from './modal-options.js'

/**
 * Opens an environment in a sandbox of Modal, by the package `modal`: the one that runs for the task and profile, else a new one from the
 * snapshot of the last. Which snapshot that is stands in `modal-snapshots.json` of `outputDir`.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `not_found` (the working directory).
 */
export async function openModalEnvironment(options: ModalOptions): Promise<Environment> {
  const { logger = silentLogger } = options
  return openCloudEnvironment(new ModalCloud({ ...options, logger }), options)
}

/** Whether the package is there and the token is taken. @throws HermesError when not. */
export async function probeModal(options: ModalOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('modal')) throw sdkMissing('modal', 'not found')
  const { logger = silentLogger } = options
  if (!how.isOffline) await new ModalCloud({ ...options, logger }).ask()
}
