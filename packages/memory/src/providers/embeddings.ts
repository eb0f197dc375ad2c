import { isJsonObject } from '@hermes/contracts'
import { askService, badReply, objects, type ServiceAddress } from './service.js'

/** Turns texts into vectors. */
export interface Embedder {
  /** One vector per text, in their order. Rejects as a provider does. */
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly Float32Array[]>
}

/** An endpoint that speaks the embeddings of OpenAI's API. */
export interface EmbeddingEndpoint {
  /** Reaches `baseUrl` and nothing else. */
  readonly fetch: typeof globalThis.fetch
  /** Without `/embeddings`. */
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: string | null
}

/** @see https://platform.openai.com/docs/api-reference/embeddings */
export function createEmbedder({ fetch, baseUrl, model, apiKey }: EmbeddingEndpoint): Embedder {
  const title = 'The endpoint for embeddings'
  const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const service: ServiceAddress = { title, fetch, baseUrl, headers }
  return {
    async embed(texts, { signal }) {
      const body = { model, input: [...texts], encoding_format: 'float' }
      const reply = await askService(service, { method: 'POST', path: '/embeddings', signal, body })
      const rows = objects(isJsonObject(reply) ? reply['data'] : null)
      if (rows?.length !== texts.length) throw badReply(title)
      return rows
        .toSorted((one, other) => Number(one['index'] ?? 0) - Number(other['index'] ?? 0))
        .map(({ embedding }) => {
          if (!Array.isArray(embedding) || embedding.length === 0) throw badReply(title)
          return Float32Array.from(embedding, Number)
        })
    },
  }
}
