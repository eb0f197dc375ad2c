export type { MemoryChange } from './changes.js'
export type { MemoryRecord } from './history.js'
export {
  MEMORY_TARGETS,
  type Memory,
  type MemoryOptions,
  type MemoryOutcome,
  type MemoryState,
  type MemoryTarget,
  openMemory,
  type TakeLock,
} from './memory.js'
export { describeUsage, type MemorySection, memorySection } from './prompt-section.js'
