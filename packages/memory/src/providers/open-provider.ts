import type { MemoryProvider } from '@hermes/contracts/memory'
import type { EmbeddingEndpoint } from './embeddings.js'
import type { ServiceOptions } from './service.js'

/** The providers that come with Hermes. */
export const MEMORY_PROVIDERS = Object.freeze(['honcho', 'mem0', 'supermemory', 'local'] as const)
/** One of {@link MEMORY_PROVIDERS}. */
type MemoryProviderName = (typeof MEMORY_PROVIDERS)[number]

/** Which provider, and with what. */
export type ProviderChoice =
  | ({ readonly name: Exclude<MemoryProviderName, 'local'> } & ServiceOptions)
  | {
      readonly name: 'local'
      /** The SQLite file. */
      readonly path: string
      readonly embeddings: EmbeddingEndpoint
      readonly now: () => number
    }

/**
 * Opens a provider; its code is loaded now, nothing is asked before its first call.
 * @throws HermesError `memory.provider_unavailable` when `local` lacks a package or its file.
 */
export async function openMemoryProvider(choice: ProviderChoice): Promise<MemoryProvider> {
  switch (choice.name) {
    case 'honcho':
      return (await import('./honcho.js')).createHoncho(choice)
    case 'mem0':
      return (await import('./mem0.js')).createMem0(choice)
    case 'supermemory':
      return (await import('./supermemory.js')).createSupermemory(choice)
    case 'local': {
      const { createEmbedder } = await import('./embeddings.js')
      const { path, embeddings, now } = choice
      const { openLocalVectors } = await import('./local-vectors.js')
      return openLocalVectors({ path, now, model: embeddings.model, embedder: createEmbedder(embeddings) })
    }
    default:
      return choice satisfies never
  }
}

/** Where a service is unless it is said, and the variable its key stands in. */
export const MEMORY_SERVICES: Readonly<
  Record<Exclude<MemoryProviderName, 'local'>, { readonly baseUrl: string; readonly keyVariable: string }>
> = Object.freeze({
  honcho: { baseUrl: 'https://api.honcho.dev', keyVariable: 'HONCHO_API_KEY' },
  mem0: { baseUrl: 'https://api.mem0.ai', keyVariable: 'MEM0_API_KEY' },
  supermemory: { baseUrl: 'https://api.supermemory.ai', keyVariable: 'SUPERMEMORY_API_KEY' },
})
