import type { ExtensionRegistry } from '@hermes/agent-core'
import { errorLine } from '@hermes/contracts'
import type { ConfiguredEndpoint } from './model-choice.js'

interface ExtensionProviders {
  readonly endpoints: Readonly<Record<string, ConfiguredEndpoint>>
  /** Why others are left out, a line each. */
  readonly problems: readonly string[]
}

/** The servers of models that extensions bring, by name. */
export function extensionProviders(extensions: Pick<ExtensionRegistry, 'list'>): ExtensionProviders {
  const endpoints: Record<string, ConfiguredEndpoint> = {}
  const problems: string[] = []
  for (const { owner, item } of extensions.list('factory')) {
    if (item.kind !== 'model-provider') continue
    try {
      const { baseUrl, defaultModel: model, keyVariables: keyEnvs = [], ...endpoint } = item.create()
      if (typeof baseUrl !== 'string') throw new TypeError('it says no baseUrl')
      endpoints[item.name] = { ...endpoint, baseUrl, model, keyEnvs }
    } catch (error) {
      const why = errorLine(error).replace(/\.$/, '')
      problems.push(`The model provider ${item.name} of the extension ${owner} is left out: ${why}.`)
    }
  }
  return { endpoints, problems }
}
