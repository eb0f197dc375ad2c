/**
 * What the agent is doing right now. `retrying`: a model call failed and is made again after a wait; `compacting`: the conversation is
 * being compacted; `waiting`: for a person, or because it is paused.
 */
export interface Activity {
  readonly state: 'idle' | 'model' | 'retrying' | 'tool' | 'compacting' | 'waiting'
  /** For a person, for example `terminal: npm test`. */
  readonly description: string
  /** Unix time in milliseconds since when. */
  readonly sinceMs: number
  /** Unix time in milliseconds of the last sign of progress: each delta of a model, each word of a tool. In the future during a wait. */
  readonly progressAtMs: number
  /** Model calls and tool calls of the current or last run. */
  readonly modelCalls: number
  readonly toolCalls: number
}

/** Keeps {@link Activity} up to date. */
export class ActivityTracker {
  readonly #now: () => number
  #current: Activity

  constructor(now: () => number) {
    this.#now = now
    this.#current = { ...this.#in('idle', 'idle'), modelCalls: 0, toolCalls: 0 }
  }

  get current(): Activity {
    return this.#current
  }

  start(): void {
    this.#current = { ...this.#in('waiting', 'starting'), modelCalls: 0, toolCalls: 0 }
  }

  /** Something else begins; calls are counted. */
  set(state: Activity['state'], description: string): void {
    const { modelCalls, toolCalls } = this.#current
    this.#current = {
      ...this.#in(state, description),
      modelCalls: modelCalls + Number(state === 'model'),
      toolCalls: toolCalls + Number(state === 'tool'),
    }
  }

  /** Something comes in between; returns how to go back to what was done before. */
  during(state: Activity['state'], description: string): () => void {
    const before = this.#current
    const current = { ...before, ...this.#in(state, description) }
    this.#current = current
    return () => {
      if (this.#current.state === state && this.#current.sinceMs === current.sinceMs)
        this.#current = { ...this.#current, ...this.#in(before.state, before.description) }
    }
  }

  /** A sign of progress. */
  progress(): void {
    this.#current = { ...this.#current, progressAtMs: this.#now() }
  }

  /** A model call failed and is made again after `waitMs`. The wait does not count as time without progress. */
  retrying(description: string, waitMs: number): void {
    const nowMs = this.#now()
    const idleMs = Math.max(0, nowMs - this.#current.progressAtMs)
    const progressAtMs = nowMs + waitMs - idleMs
    this.#current = { ...this.#current, state: 'retrying', description, sinceMs: nowMs, progressAtMs }
  }

  /** The model answers after all. */
  answered(description: string): void {
    this.#current = { ...this.#current, ...this.#in('model', description) }
  }

  #in(state: Activity['state'], description: string): Omit<Activity, 'modelCalls' | 'toolCalls'> {
    const nowMs = this.#now()
    return { state, description, sinceMs: nowMs, progressAtMs: nowMs }
  }
}
