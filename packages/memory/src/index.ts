export type { MemoryChange } from './changes.js'
export { joinEntries, parseEntries } from './entries.js'
export type { MemoryRecord } from './history.js'
export {
  type Memory,
  type MemoryOptions,
  type MemoryOutcome,
  type MemoryState,
  openMemory,
} from './memory.js'
export { loadChecks, objectionTo, orderIn } from './objection.js'
export { describeUsage, type MemorySection, memorySection, shownEntries } from './prompt-section.js'
export { type EntrySource, sourcesOf } from './sources.js'
export { MEMORY_TARGETS, type MemoryTarget } from './target.js'
