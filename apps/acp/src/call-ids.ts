/**
 * Names for tool calls that stay unique in a session: some models count their calls anew in every reply, and an editor would take the
 * second `call_1` for news about the first.
 */
export class CallIds {
  readonly #uses = new Map<string, number>()

  /** The name of a call that begins now. */
  begin(callId: string): string {
    this.#uses.set(callId, (this.#uses.get(callId) ?? 0) + 1)
    return this.current(callId)
  }

  /** The name of the newest call with this id. */
  current(callId: string): string {
    const uses = this.#uses.get(callId) ?? 1
    return uses === 1 ? callId : `${callId}#${uses}`
  }
}
