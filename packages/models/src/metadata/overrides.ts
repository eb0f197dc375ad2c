import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { amount, type ModelAbilities, type PartialFacts, positive } from './facts.js'

/**
 * What `model_overrides` of config.yaml says of a model, by its name, or by `provider/name` where two endpoints differ: `context_window`,
 * `max_output_tokens`, `supports_tools`, `supports_vision`, `supports_audio`, `supports_files`, `supports_reasoning`, and in US dollars per million tokens `input_price`,
 * `output_price`, `cache_read_price`, `cache_write_price`.
 */
export function overriddenFacts(
  overrides: Readonly<Record<string, unknown>>,
  { provider, model }: { readonly provider: string; readonly model: string },
): PartialFacts | null {
  const entry = overrides[`${provider}/${model}`] ?? overrides[model]
  return isJsonObject(entry) ? toFacts(entry) : null
}

/** What it says of models that nobody else knows. */
export function fallbackFacts(overrides: Readonly<Record<string, unknown>>): PartialFacts | null {
  const entry = overrides['_default']
  return isJsonObject(entry) ? toFacts(entry) : null
}

function toFacts(entry: JsonObject): PartialFacts {
  const [inputPerMillion, outputPerMillion] = [amount(entry['input_price']), amount(entry['output_price'])]
  const [read, write] = [amount(entry['cache_read_price']), amount(entry['cache_write_price'])]
  return {
    contextLength: positive(entry['context_window']) ?? positive(entry['context_length']),
    maxOutputTokens: positive(entry['max_output_tokens']),
    abilities: abilitiesOf(entry),
    ...(inputPerMillion === undefined || outputPerMillion === undefined
      ? {}
      : {
          prices: {
            inputPerMillion,
            outputPerMillion,
            ...(read === undefined ? {} : { cacheReadPerMillion: read }),
            ...(write === undefined ? {} : { cacheWritePerMillion: write }),
          },
        }),
  }
}

function abilitiesOf(entry: JsonObject): ModelAbilities {
  const names = ['tools', 'vision', 'reasoning', 'audio', 'files'] as const
  const known = names.flatMap((name) => {
    const value = entry[`supports_${name}`]
    return typeof value === 'boolean' ? [[name, value] as const] : []
  })
  return Object.fromEntries(known)
}
