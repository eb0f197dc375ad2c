import type { CredentialSource } from '@hermes/contracts/model'
import type { ModelEndpoint } from '@hermes/models'
import type { ModelChoice } from './model-choice.js'

/** A choice in the terms of a model client. */
export function toModelEndpoint(
  { provider, catalogueId, ...choice }: ModelChoice,
  way: Required<Pick<ModelEndpoint, 'fetch' | 'cacheTtl' | 'prices' | 'contextLength'>> & {
    readonly credentials: CredentialSource | null
  },
): ModelEndpoint {
  const { credentials, ...rest } = way
  return { ...choice, ...rest, ...(credentials ? { credentials } : {}), provider: catalogueId, name: provider }
}
