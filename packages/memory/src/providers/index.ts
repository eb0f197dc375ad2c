export type { CallOptions, KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'
export type { EmbeddingEndpoint } from './embeddings.js'
export { type LongMemory, type LongMemoryOptions, openLongMemory } from './long-memory.js'
export {
  MEMORY_PROVIDERS,
  MEMORY_SERVICES,
  type MemoryProviderName,
  openMemoryProvider,
  type ProviderChoice,
} from './open-provider.js'
export type { ServiceOptions } from './provider.js'
