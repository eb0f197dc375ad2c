import { setFlagsFromString } from 'node:v8'
import type { Extension } from '@hermes/contracts/extension'

/** Calls of models after which what is usually needed is loaded. */
const MANY = 64
/** What V8 itself begins with. */
const V8_GROWTH = 2

/**
 * Keeps the memory of a server small that streams much. What streams leave is garbage at once; left alone, V8 gathers more than 100 MB of it
 * before it looks. V8 takes code that was kept, and keeps more, only with the flags it was made with: so the flag changes when that is loaded, and
 * is what it was at the end.
 */
export class StreamMemory implements Extension {
  readonly name = 'stream-memory'
  #calls = 0

  setup(api: Parameters<Extension['setup']>[0]): void {
    api.hooks.on('after-model-call', () => {
      if (++this.#calls === MANY) setGrowth(1)
    })
  }

  end(): void {
    if (this.#calls >= MANY) setGrowth(V8_GROWTH)
  }
}

/** How many times as much of what is new fits in after each growth. */
function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}
