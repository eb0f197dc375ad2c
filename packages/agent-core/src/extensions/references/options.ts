import type { HookEvent } from '@hermes/contracts/extension'
import type { Action, Permit } from '@hermes/contracts/policy'

/** What references of a person's message may reach beyond files and git. */
export interface ReferenceOptions {
  /** The model's window in tokens: half of it is the most that is attached, a quarter is worth a warning. Default 128,000. */
  readonly windowTokens?: (event: HookEvent) => number | Promise<number>
  /** Reads a page as text, asking `permit` before each request. Default: `@url:` is refused. */
  readonly readPage?: (
    url: string,
    options: { readonly permit: (action: Action) => Promise<Permit>; readonly signal: AbortSignal },
  ) => Promise<string>
  /** What was said in another session of whom `event` is for. Rejects with one line. Default: `@session:` is refused. */
  readonly readSession?: (name: string, event: HookEvent) => Promise<string>
}
