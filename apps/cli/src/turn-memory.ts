import type { AgentEvent } from '@hermes/agent-core'

/** Calls of the model in a turn. One that is that long has loaded what it needs. */
const LONG = 64

/**
 * Keeps the memory of a long turn small. What each call of the model leaves is garbage at once; left alone, V8 gathers ever more of it before
 * it looks. V8 takes code that was kept only with the flags it was made with: so a turn of usual length is left alone, and at the `end` the
 * flag is what it was.
 */
export class TurnMemory {
  #calls = 0

  see({ type }: AgentEvent): void {
    if (type === 'usage-update' && ++this.#calls === LONG) setGrowth(1)
  }

  end(): void {
    if (this.#calls >= LONG) setGrowth(V8_GROWTH)
  }
}

/** What V8 itself begins with. */
const V8_GROWTH = 2

/** How many times as much of what is new fits in after each growth. */
function setGrowth(factor: number): void {
  // Loaded here and not above: few turns are that long, and each start would load it.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}
