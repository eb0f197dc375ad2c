import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import type { Memory } from './memory.js'
import { MEMORY_TARGETS, type MemoryTarget } from './memory-files.js'
import { describeUsage } from './prompt-section.js'

/** Beyond it nothing more is taken in before long, and the model has to merge. */
const NEARLY_FULL = 0.95

/** The stores of a home, as far as they are on. */
interface Stores {
  isOn(target: MemoryTarget): boolean
  open(target: MemoryTarget): Promise<Pick<Memory, 'read'>>
}

/** How full the stores are, and whether they can be read; `null` where all are switched off. Never rejects. */
export function storeFindings(stores: Stores | null): Promise<readonly Finding[]> {
  return Promise.all(MEMORY_TARGETS.map((target) => storeFinding(stores, target)))
}

async function storeFinding(stores: Stores | null, target: MemoryTarget): Promise<Finding> {
  if (!stores?.isOn(target)) return { level: 'ok', text: `${target}: switched off` }
  try {
    const state = await (await stores.open(target)).read(target)
    const text = `${target}: ${describeUsage(state)}`
    if (state.chars < NEARLY_FULL * state.limit) return { level: 'ok', text }
    const advice = 'Merge or remove entries with hermes memory edit, or raise the limit in config.yaml'
    return { level: 'warn', text: `${text}. ${advice}` }
  } catch (error) {
    return { level: 'fail', text: `${target}: ${errorLine(error)}` }
  }
}
