import type { HookEvent } from '@hermes/contracts/extension'

/** What an agent can tell of its surroundings beyond its environment. */
export interface RuntimeStateOptions {
  /** Whether git is asked about the workspace: for some ten milliseconds with each message of the person but the first. Default `true`. */
  readonly git?: boolean | ((event: HookEvent) => boolean)
  /** What was delegated and has not ended, a few words each. Default: nothing ever is. */
  readonly delegated?: (event: HookEvent) => readonly string[]
}
