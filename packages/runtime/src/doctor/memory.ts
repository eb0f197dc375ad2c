import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { storeFindings } from '@hermes/memory'
import type { Runtime } from '../runtime.js'
import { ok, warn } from './finding.js'

const TIMEOUT_MS = 5_000

/** What is remembered, and whether the memory provider can be used that config.yaml may name. */
export async function memoryFindings(
  runtime: Pick<Runtime, 'memory' | 'longMemory'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const stores = (await storeFindings(runtime.memory)).map(({ level, text }) => ({ level, text: `Memory: ${text}` }))
  return [...stores, ...(await providerFindings(runtime, { isOffline }))]
}

async function providerFindings(
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
