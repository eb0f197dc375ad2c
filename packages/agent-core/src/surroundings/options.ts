/** What an agent can tell of its surroundings beyond its environment. */
export interface RuntimeStateOptions {
  /** What was handed on and has not ended, a few words each. Default: nothing ever is. */
  readonly handedOn?: () => readonly string[]
}
