import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { describeUsage, MEMORY_TARGETS } from '@hermes/memory'
import type { Runtime } from '@hermes/runtime'
import { fail, ok, warn } from './finding.js'

const TIMEOUT_MS = 5_000

/** Beyond it nothing more is taken in before long, and the model has to merge. */
const NEARLY_FULL = 0.95

/** What is remembered, and whether the memory provider can be used that config.yaml may name. */
export async function memoryFindings(
  runtime: Pick<Runtime, 'memory' | 'longMemory'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const stores = (await storeFindings(runtime)).map(({ level, text }) => ({ level, text: `Memory: ${text}` }))
  return [...stores, ...(await providerFindings(runtime, { isOffline }))]
}

/** How full the stores are, and whether they can be read. */
export function storeFindings({ memory }: Pick<Runtime, 'memory'>): Promise<readonly Finding[]> {
  return Promise.all(
    MEMORY_TARGETS.map(async (target) => {
      if (!memory?.isOn(target)) return ok(`${target}: switched off`)
      try {
        const state = await (await memory.open(target)).read(target)
        const usage = `${target}: ${describeUsage(state)}`
        if (state.chars < NEARLY_FULL * state.limit) return ok(usage)
        return warn(`${usage}. Merge or remove entries with hermes memory edit, or raise the limit in config.yaml`)
      } catch (error) {
        return fail(`${target}: ${errorLine(error)}`)
      }
    }),
  )
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
