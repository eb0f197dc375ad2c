import { HermesError } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'

const MENDABLE: readonly string[] = ['models.no_key', 'models.foreign_key']

/**
 * What keeps the model from answering that can still be fixed, as a line; `null` when nothing does.
 * @throws HermesError for what can not, such as a provider that does not exist
 */
export function checkModel(
  runtime: Runtime,
  requested: Parameters<Runtime['chooseModel']>[0],
  keyEnv?: string,
): string | null {
  try {
    runtime.chooseModel(requested)
    return null
  } catch (error) {
    if (!HermesError.isInstance(error) || !MENDABLE.includes(error.code)) throw error
    return keyEnv === undefined ? error.message : null
  }
}
