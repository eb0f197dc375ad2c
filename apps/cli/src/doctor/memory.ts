import { errorLine } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'
import { type Finding, ok, warn } from './finding.js'

const TIMEOUT_MS = 5_000

/** Whether the memory provider that config.yaml names can be used; nothing where it names none. */
export async function memoryFindings(
  { longMemory }: Pick<Runtime, 'longMemory'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  if (!longMemory) return []
  const { provider } = longMemory
  try {
    const { address } = await longMemory.describe()
    if (isOffline) return [ok(`Memory provider ${provider} (${address}); not asked`)]
    await longMemory.check({ signal: AbortSignal.timeout(TIMEOUT_MS) })
    return [ok(`Memory provider ${provider} (${address}): it answers`)]
  } catch (error) {
    return [warn(`Memory provider ${provider}: ${errorLine(error)} Turns go on without it`)]
  }
}
