import type { HermesConfig } from '@hermes/config'
import { type Clock, HermesError } from '@hermes/contracts'
import {
  MEMORY_TARGETS,
  type Memory,
  type MemorySection,
  type MemoryTarget,
  memorySection,
  openMemory,
} from '@hermes/memory'

/** What agents of a home remember. */
export interface HomeMemory {
  /** Whether config.yaml leaves this store on. */
  isOn(target: MemoryTarget): boolean
  /**
   * The stores; nothing is read before they are asked.
   * @throws HermesError `memory.off` for a store that config.yaml switches off.
   */
  open(target: MemoryTarget): Promise<Memory>
  /** What a new session is shown of them, and what it is not shown. */
  section(): Promise<MemorySection>
}

/** The memory of a home; `null` where config.yaml switches all of it off. */
export function openHomeMemory(options: {
  /** Where the files are. */
  readonly directory: string
  readonly settings: HermesConfig['memory']
  readonly redact: (text: string) => string
  readonly clock: Clock
}): HomeMemory | null {
  const { directory, settings, redact, clock } = options
  const isOn = { memory: settings.memory_enabled, user: settings.user_profile_enabled }
  if (!isOn.memory && !isOn.user) return null
  const memory = openMemory({
    directory,
    limits: { memory: settings.memory_char_limit, user: settings.user_char_limit },
    redact,
    clock,
  })
  return {
    isOn: (target) => isOn[target],
    open: async (target) => {
      if (isOn[target]) return memory
      const key = target === 'user' ? 'user_profile_enabled' : 'memory_enabled'
      throw new HermesError(`The store "${target}" is switched off (memory.${key} in config.yaml).`, {
        code: 'memory.off',
      })
    },
    section: () =>
      memorySection(
        memory,
        MEMORY_TARGETS.filter((target) => isOn[target]),
      ),
  }
}
