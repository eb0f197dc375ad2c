import type { HermesConfig } from '@hermes/config'
import { createRedactor } from '@hermes/safety'
import type { ModelChoice, ModelChoiceOptions } from '../models/model-choice.js'
import { keyVariableNames, secretsIn } from './home-secrets.js'
import { storeSecrets } from './open-store.js'
import type { HomeFacts } from './read-home.js'

interface RedactionOptions extends Pick<HomeFacts, 'secrets' | 'stored'> {
  readonly config: HermesConfig
  /** Of extensions that offer models; none before they are set up. */
  readonly endpoints: () => ModelChoiceOptions['endpoints']
  readonly fallbacks: () => readonly ModelChoice[]
}

/** Which secrets a home has, and how they are taken out of texts. */
export class HomeRedaction {
  readonly #options: RedactionOptions
  /** Knows the keys and tokens of `auth.json` once they are used. */
  readonly #used = createRedactor({ secrets: [] })
  /** From now on this one is taken out too. */
  readonly conceal = this.#used.add

  constructor(options: RedactionOptions) {
    this.#options = options
  }

  /** Variables with keys of models that config.yaml and extensions name. */
  keyVariables(): readonly string[] {
    const { config, endpoints } = this.#options
    const ofExtensions = Object.values(endpoints() ?? {}).flatMap(({ keyEnvs = [] }) => keyEnvs)
    return [...keyVariableNames(config), ...ofExtensions]
  }

  /** Takes out the secrets that the home has now and `more` of them; those that are concealed later too. */
  redactor(more: readonly (string | null | undefined)[] = []): (text: string) => string {
    const { config, stored, fallbacks } = this.#options
    const { values, secretNames } = this.#options.secrets
    const named = [...secretNames, ...this.keyVariables()].map((name) => values[name])
    const ofFallbacks = fallbacks().map(({ apiKey }) => apiKey)
    const known = [...named, ...secretsIn(config), ...stored.secrets, ...storeSecrets(config), ...more, ...ofFallbacks]
    const redactor = createRedactor({ secrets: known.filter((secret): secret is string => Boolean(secret)) })
    return (text) => this.#used.redactValues(redactor.redactValues(text))
  }
}
