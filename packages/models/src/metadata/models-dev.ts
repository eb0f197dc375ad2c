import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ModelPrices, PriceTier } from '../usage.js'
import { amount, type ModelAbilities, type PartialFacts, positive, type RequestedModel } from './facts.js'
import { metadataIds } from './provider-ids.js'

/** Where the catalogue is published. @see https://models.dev */
export const MODELS_DEV_URL = 'https://models.dev/api.json'

/** The catalogue as it is kept: what Hermes uses of it, by provider and model. */
export interface ModelsDev {
  /** When it was fetched, in Unix milliseconds. */
  readonly atMs: number
  readonly providers: Readonly<Record<string, Readonly<Record<string, PartialFacts>>>>
}

/** The published catalogue brought to what is kept of it; `null` when it is something else. */
export function parseModelsDev(published: unknown, atMs: number): ModelsDev | null {
  if (!isJsonObject(published)) return null
  const providers = Object.entries(published).flatMap(([id, provider]) => {
    const models = isJsonObject(provider) ? provider['models'] : undefined
    if (!isJsonObject(models)) return []
    const known = Object.entries(models).flatMap(([name, model]) =>
      isJsonObject(model) ? [[name, toFacts(model)]] : [],
    )
    return [[id, Object.fromEntries(known) as Record<string, PartialFacts>] as const]
  })
  return providers.length === 0 ? null : { atMs, providers: Object.fromEntries(providers) }
}

function toFacts({ limit, cost, tool_call, reasoning, modalities }: JsonObject): PartialFacts {
  const [limits, input] = [asObject(limit), asObject(modalities)['input']]
  const kinds = Array.isArray(input) ? input : null
  const prices = toPrices(asObject(cost))
  const abilities: ModelAbilities = {
    ...(typeof tool_call === 'boolean' ? { tools: tool_call } : {}),
    ...(typeof reasoning === 'boolean' ? { reasoning } : {}),
    ...(kinds ? { vision: kinds.includes('image'), audio: kinds.includes('audio') } : {}),
  }
  return {
    contextLength: positive(limits['context']),
    maxOutputTokens: positive(limits['output']),
    ...(prices ? { prices } : {}),
    abilities,
  }
}

function toPrices(cost: JsonObject): ModelPrices | undefined {
  const base = pricesOf(cost)
  if (!base) return undefined
  const tiers = Object.entries(cost).flatMap(([name, over]): PriceTier[] => {
    const thousands = /^context_over_(\d+)k$/.exec(name)?.[1]
    const prices = thousands && isJsonObject(over) ? pricesOf({ ...cost, ...over }) : undefined
    return prices ? [{ aboveInputTokens: Number(thousands) * 1_000, ...prices }] : []
  })
  return tiers.length === 0 ? base : { ...base, tiers }
}

function pricesOf({
  input,
  output,
  cache_read,
  cache_write,
}: JsonObject): PriceTier | Omit<PriceTier, 'aboveInputTokens'> | undefined {
  const [inputPerMillion, outputPerMillion] = [amount(input), amount(output)]
  if (inputPerMillion === undefined || outputPerMillion === undefined) return undefined
  const [read, write] = [amount(cache_read), amount(cache_write)]
  return {
    inputPerMillion,
    outputPerMillion,
    ...(read === undefined ? {} : { cacheReadPerMillion: read }),
    ...(write === undefined ? {} : { cacheWritePerMillion: write }),
  }
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** What the catalogue says of a model; `null` for nothing. Upper and lower case are alike. */
export function modelsDevFacts(catalogue: ModelsDev, { provider, model }: RequestedModel): PartialFacts | null {
  const models = catalogue.providers[metadataIds(provider).modelsDev]
  if (!models) return null
  if (Object.hasOwn(models, model)) return models[model]!
  const wanted = model.toLowerCase()
  const name = Object.keys(models).find((candidate) => candidate.toLowerCase() === wanted)
  return name === undefined ? null : models[name]!
}
