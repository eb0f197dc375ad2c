import { isJsonObject } from '@hermes/contracts'
import { badReply, bearer, objects, openService } from './service.js'

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
  const ask = openService({ title, fetch, baseUrl, headers: bearer(apiKey) })
  return {
    async embed(texts, { signal }) {
      const body = { model, input: [...texts], encoding_format: 'float' }
      const reply = await ask('POST', '/embeddings', { signal, body })
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
