import { errorLine } from '@hermes/contracts'
import { chooseModel, type ModelChoice, type ModelChoiceOptions } from './model-choice.js'

/** The models to fall back on, and what is wrong with entries that cannot be used, a line each. */
export interface Fallbacks {
  readonly choices: readonly ModelChoice[]
  readonly problems: readonly string[]
}

/**
 * What `fallback_providers` of config.yaml comes to: maps with `provider` and `model`, and `base_url` and `key_env` where wanted. Entries
 * without both are left out without a word. Pure.
 */
export function chooseFallbacks(
  entries: readonly unknown[],
  modelOptions: Omit<ModelChoiceOptions, 'requested' | 'session'>,
): Fallbacks {
  const choices: ModelChoice[] = []
  const problems: string[] = []
  entries.forEach((entry, index) => {
    const { provider, model, base_url: baseUrl, key_env: keyEnv } = textsOf(entry)
    if (provider === undefined || model === undefined) return
    try {
      const requested = {
        provider,
        model,
        ...(baseUrl === undefined ? {} : { baseUrl }),
        ...(keyEnv === undefined ? {} : { keyEnv }),
      }
      choices.push(chooseModel({ ...modelOptions, requested, session: null }))
    } catch (error) {
      problems.push(`fallback_providers.${index} cannot be used: ${errorLine(error)}`)
    }
  })
  return { choices, problems }
}

/** The entries of a map that are texts. */
function textsOf(entry: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof entry !== 'object' || entry === null) return {}
  return Object.fromEntries(
    Object.entries(entry).filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''),
  )
}
