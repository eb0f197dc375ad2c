import type { JsonObject } from '@hermes/contracts'
import type { RepairRules } from '@hermes/contracts/conversation'
import type { WireApi } from '@hermes/contracts/model'

/** A JSON Schema dialect that an endpoint takes for the parameters of tools, where it takes less than JSON Schema. */
export type SchemaDialect = 'gemini' | 'moonshot' | 'llama-cpp'

/** How an endpoint departs from the plain protocol of its wire. Model names are matched by parts of them, in lower case. */
export interface ProviderQuirks {
  /** The parameter that limits output. Default `max_tokens`. */
  readonly outputLimitParameter?: 'max_tokens' | 'max_completion_tokens'
  /** The endpoint refuses any limit of output, so that none is sent; for the `responses` wire. Default false. */
  readonly refusesOutputLimit?: boolean
  /** The limit that is asked for when a request names none. Default: none is asked for. */
  readonly defaultMaxOutputTokens?: number
  /** Parts of model names whose system text goes out with the role `developer`. Default none. */
  readonly developerRoleModels?: readonly string[]
  /** Parts of model names that take no `temperature`. Default none. */
  readonly fixedTemperatureModels?: readonly string[]
  /**
   * How reasoning effort is asked for: `reasoning_effort: x` (default), `reasoning: { effort: x }`, `reasoning_effort` together with
   * `thinking: { type }`, Google's `thinking_config`, or not at all.
   */
  readonly reasoningEffortShape?: 'flat' | 'nested' | 'thinking' | 'google' | 'none'
  /** Parts of model names that take an effort; others get none. Default: all. */
  readonly reasoningEffortModels?: readonly string[]
  /**
   * The field in which earlier reasoning goes back to the endpoint that made it: its text, or with `reasoning_details` the blocks
   * exactly as they came. Default: it is left out.
   */
  readonly replayReasoningAs?: 'reasoning_content' | 'reasoning' | 'reasoning_details'
  /** A message with tool calls is refused without `reasoning_content`, so it carries an empty one when there is none. */
  readonly reasoningRequired?: boolean
  /** What the endpoint attaches to a tool call goes back with it. */
  readonly replayCallExtras?: boolean
  /** Names of tags whose content, at the start of an answer, is reasoning and not text. Default none. */
  readonly thinkTags?: readonly string[]
  /** The dialect that schemas of tools are brought to. Default: they go out as they are. */
  readonly schemaDialect?: SchemaDialect
  /** What the endpoint takes of formats of answers: schemas (default), that they are JSON, or nothing. */
  readonly answerFormats?: 'schema' | 'json' | 'none'
  /** Parts of model names that take no format of answers beside tools. Default none. */
  readonly formatWithoutToolsModels?: readonly string[]
  /** Tool names that the endpoint keeps for itself; ours go out with a prefix and come back without. */
  readonly reservedToolNames?: readonly string[]
  /** The form of call ids that the endpoint takes; others are replaced by a hash, the same each time. */
  readonly callIds?: { readonly maxChars: number; readonly exactly?: boolean }
  /** Marks for the provider's cache on the chat-completions wire: for which models, and how long it keeps a prefix at most. */
  readonly cacheMarks?: { readonly models: readonly string[]; readonly maxTtl?: '5m' }
  /** What the endpoint wants of the order of messages, beside what all want. Wires that always want more ask for it themselves. */
  readonly repair?: RepairRules
  /** User content goes out as a list of parts even when it is text alone. */
  readonly contentAsList?: boolean
  /** The endpoint makes answers sooner or later for other prices, where it is asked to. Default false. */
  readonly serviceTiers?: boolean
  /** How a key goes to an endpoint of the `anthropic-messages` wire. Default `x-api-key`. */
  readonly credentialHeader?: 'x-api-key' | 'authorization'
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further fields of each request body. */
  readonly body?: JsonObject
}

/** How an endpoint is paid for and unlocked. */
type ProviderAuth = 'key' | 'oauth' | 'aws' | 'none'

/** An endpoint Hermes knows by name. */
export interface Provider {
  readonly id: string
  readonly aliases: readonly string[]
  /** For people. */
  readonly name: string
  /** `null` where the user must give one. */
  readonly baseUrl: string | null
  /** The environment variable that moves the endpoint elsewhere, when the configuration names no address. */
  readonly baseUrlVariable?: string
  /** Keys that begin like this belong to another address of the same provider. */
  readonly keyAddresses?: readonly { readonly prefix: string; readonly baseUrl: string }[]
  /** Environment variables that may hold the key, first match wins. Commands never see them. */
  readonly keyVariables: readonly string[]
  /** Variables that belong to other tools too: used when the provider is named, and left to commands. */
  readonly sharedKeyVariables: readonly string[]
  readonly keyRequired: boolean
  readonly auth: ProviderAuth
  /** Runs on the user's own machine: calls cost nothing. */
  readonly local: boolean
  /** The wire spoken at the provider's own address; see `detectApi` for others. */
  readonly api: WireApi
  /** Models that are served on another wire, by parts of their names. */
  readonly modelApis: readonly { readonly models: readonly string[]; readonly api: WireApi }[]
  readonly quirks: ProviderQuirks
  /** Whether tests hold a conversation with a conforming server through this entry; no live key is needed for that. */
  readonly exercised: boolean
  /** Used when no model is configured. */
  readonly defaultModel?: string
}

type RequiredField = 'id' | 'name' | 'baseUrl'

/** A provider as the lists hold it: what is left out is as with most. */
export type ProviderEntry = Pick<Provider, RequiredField> & Partial<Omit<Provider, RequiredField>>

/** Fills in what an entry leaves out: a key, chat completions, nothing special, exercised by tests. */
export function toProvider(entry: ProviderEntry): Provider {
  return {
    aliases: [],
    keyVariables: [],
    sharedKeyVariables: [],
    keyRequired: entry.auth !== 'none',
    auth: 'key',
    local: false,
    api: 'chat-completions',
    modelApis: [],
    quirks: {},
    exercised: true,
    ...entry,
  }
}

/** Whether a name has one of the parts; upper and lower case alike. */
export function nameHas(model: string, parts: readonly string[] | undefined): boolean {
  const name = model.toLowerCase()
  return parts?.some((part) => name.includes(part)) ?? false
}
