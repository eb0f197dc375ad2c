import { HermesError } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import type { OpenedCheckpoints } from './tool-services.js'

/**
 * The workspace a call is about.
 * @throws HermesError `checkpoint.not_local`, `checkpoint.no_workspace`.
 */
export function workspaceOf({ environment }: ToolContext, { rootOf }: OpenedCheckpoints): string {
  if (environment.backend !== 'local') {
    throw new HermesError(
      `Checkpoints by name are kept of folders on this machine, not of the ${environment.backend} environment. Use git there; restore takes back what a run changed.`,
      { code: 'checkpoint.not_local', details: { backend: environment.backend } },
    )
  }
  const cwd = environment.cwd()
  const root = rootOf(cwd)
  if (root !== null) return root
  throw new HermesError(`${cwd} is too much to keep a checkpoint of; change into a project folder first.`, {
    code: 'checkpoint.no_workspace',
    details: { cwd },
  })
}
