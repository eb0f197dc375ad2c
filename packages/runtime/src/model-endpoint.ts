import type { ModelEndpoint } from '@hermes/models'
import type { ModelChoice } from './model-choice.js'

/** A choice in the terms of a model client. */
export function toModelEndpoint(
  { provider, catalogueId, ...choice }: ModelChoice,
  way: Required<Pick<ModelEndpoint, 'fetch' | 'cacheTtl'>>,
): ModelEndpoint {
  return { ...choice, ...way, provider: catalogueId, name: provider }
}
