// The chat platforms of a home: those of Hermes, and those that extensions bring.
import type { ExtensionRegistry, PlatformHint } from '@hermes/agent-core'
import { type HermesConfig, type OwnValue, platformEntry } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { ChatPlatform } from '@hermes/contracts/extension'
import { type ChatVariables, type ReachedPlatform, reachedPlatforms } from './chat-accounts.js'
import type { OwnPlatform } from './own-platform.js'

const NAME = /^[a-z][a-z0-9_]{0,63}$/
const VARIABLE = /^[A-Z][A-Z0-9_]{0,99}$/
const MOST_HINT_CHARS = 500

/** Where sessions speak otherwise, and what names of people begin with: whose they are goes by these words. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['acp', 'api', 'cli', 'cron', 'doctor', 'email', 'embedded', 'gateway', 'group', 'home', 'key', 'mcp', 'oneshot'],
  ...['plugin', 'telegram', 'webhook'],
])

interface HomePlatformsOptions {
  readonly config: HermesConfig
  readonly variables: ChatVariables
}

/** Those of one home. Before extensions are set up there are only those of Hermes. */
export class HomePlatforms {
  readonly #options: HomePlatformsOptions
  #own: readonly OwnPlatform[] = []

  constructor(options: HomePlatformsOptions) {
    this.#options = options
  }

  /** Takes what extensions bring; why one is left out, and what is wrong with its settings, a line each. */
  offer(extensions: Pick<ExtensionRegistry, 'list'>, values: readonly OwnValue[]): readonly string[] {
    const problems: string[] = []
    const own: OwnPlatform[] = []
    for (const { owner, item } of extensions.list('factory')) {
      if (item.kind !== 'platform') continue
      const { name } = item
      try {
        if (!NAME.test(name) || TAKEN.has(name)) throw new Error('it cannot have this name')
        const brought = checked(item.create())
        const { settings, hint, toolsets, problems: mistakes } = platformEntry(name, values)
        problems.push(...mistakes)
        if (settings === null) throw new Error('its settings have a mistake')
        own.push({
          ...{ name, account: brought.account, open: (request) => brought.open(request), settings, toolsets },
          hints: { ...hint, ...(brought.hint === undefined ? {} : { usual: brought.hint }) },
        })
      } catch (error) {
        const why = errorLine(error).replace(/\.$/, '')
        problems.push(
          `The chat platform ${JSON.stringify(name.slice(0, 60))} of the extension ${owner} is left out: ${why}.`,
        )
      }
    }
    this.#own = own
    return problems
  }

  get own(): readonly OwnPlatform[] {
    return this.#own
  }

  /** One that an extension brings; `undefined` for all others. */
  of(name: string): OwnPlatform | undefined {
    return this.#own.find((one) => one.name === name)
  }

  /** Variables of accounts that no command gets. */
  secretVariables(): readonly string[] {
    return this.#own.flatMap(({ account }) =>
      account.filter(({ isSecret }) => isSecret).map(({ variable }) => variable),
    )
  }

  /** Those that have an account and are not switched off. */
  reached(): readonly ReachedPlatform[] {
    const { config, variables } = this.#options
    return reachedPlatforms(config, variables, this.#own)
  }

  /** How an agent is to speak there. */
  hintOf(platform: string): PlatformHint {
    // Some have none of their own in the schema, and may stand in the file all the same.
    const configured = this.#options.config.platform_hints as Readonly<Record<string, PlatformHint | undefined>>
    return this.of(platform)?.hints ?? configured[platform] ?? {}
  }
}

/** What is of an extension may be anything. */
function checked(brought: ChatPlatform): ChatPlatform {
  const { account, hint = '', open } = brought
  if (typeof open !== 'function') throw new TypeError('it has no open')
  if (!Array.isArray(account)) throw new TypeError('its account is no list of variables')
  const wrong = account.find(({ variable, label }) => !VARIABLE.test(variable) || typeof label !== 'string')
  if (wrong) throw new TypeError('its account names what is no variable, such as LOBBY_TOKEN')
  if (typeof hint !== 'string' || hint.length > MOST_HINT_CHARS)
    throw new TypeError(`its hint is no text of at most ${MOST_HINT_CHARS} characters`)
  return brought
}

/** Keys of config.yaml that extensions have a meaning for, as problems name them. */
export function takenKeys(extensions: Pick<ExtensionRegistry, 'list'>): ReadonlySet<string> {
  const platforms = extensions
    .list('factory')
    .flatMap(({ item: { kind, name } }) => (kind === 'platform' ? [name] : []))
  return new Set([
    ...extensions.list('config').map(({ item }) => item.key),
    ...platforms.flatMap((name) => [`platforms.${name}`, `platform_hints.${name}`, `platform_toolsets.${name}`]),
  ])
}
