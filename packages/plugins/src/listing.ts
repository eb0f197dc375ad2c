// What a plugin that runs apart registers, as data: read once, when a person agrees to it, and kept with their yes.
import type { JsonObject } from '@hermes/contracts'
import type { Command, Factories, HookName, PromptSection, Route, Subcommand } from '@hermes/contracts/extension'
import type { Concurrency, JsonSchema } from '@hermes/contracts/tool'

/** A tool without what it does. */
export interface ListedTool {
  readonly name: string
  readonly toolset: string
  readonly description: string
  readonly parameters: JsonSchema
  readonly aliases?: readonly string[]
  readonly effect?: 'read' | 'write'
  readonly concurrency?: Concurrency
  readonly icon?: string
  readonly requires?: readonly string[]
  readonly external?: boolean
  readonly keepsData?: boolean
  readonly maxResultChars?: number
  readonly deferred?: boolean
  readonly hasAvailable: boolean
}

/** What one setup registers. `key` is what a call of it names. */
export interface PluginListing {
  readonly tools: readonly ListedTool[]
  readonly sources: readonly { readonly name: string; readonly description?: string; readonly deferred?: boolean }[]
  readonly hooks: readonly {
    readonly key: string
    readonly point: HookName
    readonly order?: number
    readonly timeoutMs?: number
  }[]
  readonly sections: readonly Pick<PromptSection, 'name' | 'order' | 'maxBytes'>[]
  readonly configKeys: readonly string[]
  readonly checks: readonly string[]
  readonly commands: readonly (Omit<Command, 'run' | 'complete'> & { readonly hasComplete: boolean })[]
  readonly subcommands: readonly Omit<Subcommand, 'load'>[]
  readonly routes: readonly Pick<Route, 'method' | 'path' | 'scope'>[]
  readonly jobs: readonly string[]
  readonly memories: readonly string[]
  readonly providers: readonly { readonly name: string; readonly provider: ReturnType<Factories['model-provider']> }[]
  /** What has no effect in a process of its own, one line each. */
  readonly problems: readonly string[]
}

/** How calls name what is registered. */
export const keyOf = (kind: string, name: string) => `${kind}:${name}`

/** What a tool or hook of a plugin is called with, besides its arguments. */
export interface CallPlace {
  readonly sessionId: string
  readonly callId: string
  readonly agentPath: readonly string[]
  readonly isTainted: boolean
  readonly environment: RemotePlace | null
}

/** An environment as far as a plugin knows it without asking. */
export interface RemotePlace {
  readonly backend: string
  readonly cwd: string
  readonly root: string | null
  readonly userHome: string
}

/** What a process is told first. */
export interface StartMessage {
  /** A `file:` address. */
  readonly module: string
  readonly data: string
  readonly secrets: Readonly<Record<string, string>>
  /** Values of the keys of config.yaml that its sections take. */
  readonly config: JsonObject
}
