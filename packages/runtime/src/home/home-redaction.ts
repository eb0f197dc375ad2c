import type { HermesConfig } from '@hermes/config'
import { createRedactor } from '@hermes/safety'
import { keyVariableNames, secretsIn } from './home-secrets.js'
import { storeSecrets } from './open-store.js'
import type { HomeFacts } from './read-home.js'

interface RedactionOptions extends Pick<HomeFacts, 'secrets' | 'stored'> {
  readonly config: HermesConfig
}

/** Which secrets a home has, and how they are taken out of texts. */
export class HomeRedaction {
  readonly #options: RedactionOptions
  /** Knows the keys and tokens of `auth.json` once they are used. */
  readonly #used = createRedactor({ secrets: [] })
  /** From now on this one is taken out too. */
  readonly conceal = this.#used.add
  #offered: readonly string[] = []
  readonly #more: (() => readonly (string | null)[])[] = []

  constructor(options: RedactionOptions) {
    this.#options = options
  }

  /** Variables that extensions name hold secrets too. */
  offer(variables: readonly string[]): void {
    this.#offered = variables
  }

  /** What `secrets` gives each time is taken out too. */
  alsoTakesOut(secrets: () => readonly (string | null)[]): void {
    this.#more.push(secrets)
  }

  /** Variables with keys and secrets that config.yaml and extensions name. */
  keyVariables(): readonly string[] {
    return [...keyVariableNames(this.#options.config), ...this.#offered]
  }

  /** Takes out the secrets that the home has now and `more` of them; those that are concealed later too. */
  redactor(more: readonly (string | null | undefined)[] = []): (text: string) => string {
    const { config, stored } = this.#options
    const { values, secretNames } = this.#options.secrets
    const named = [...secretNames, ...this.keyVariables()].map((name) => values[name])
    const ofOthers = this.#more.flatMap((secrets) => secrets())
    const known = [...named, ...secretsIn(config), ...stored.secrets, ...storeSecrets(config), ...more, ...ofOthers]
    const redactor = createRedactor({ secrets: known.filter((secret): secret is string => Boolean(secret)) })
    return (text) => this.#used.redactValues(redactor.redactValues(text))
  }
}
