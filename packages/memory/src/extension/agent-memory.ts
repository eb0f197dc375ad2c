/** What an agent knows beyond its session. It must not throw; nothing it does may hold a run up for long. */
export interface AgentMemory {
  /** What fits the words of a person, the most fitting first. Default: nothing is ever recalled. Rejects with an abort only. */
  recall?(
    text: string,
    options: { readonly signal: AbortSignal; readonly sessionId: string },
  ): Promise<readonly string[]>
  /** Takes an exchange in once its answer is complete. Nobody waits for it. */
  keep?(turn: {
    readonly sessionId: string
    readonly user: string
    readonly assistant: string
    readonly atMs: number
  }): void
  /** After so many messages of the person without a call of the tool `memory` the model is reminded of it. 0: never, the default. */
  readonly nudgeAfter?: number
}
