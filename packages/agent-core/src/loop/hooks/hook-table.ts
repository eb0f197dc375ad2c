import { errorLine, type JsonValue, type Logger } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'
import type { Extension, HookHandlers, HookName, HookOptions } from '@hermes/contracts/extension'

const DEFAULT_TIMEOUT_MS = 30_000

/** A handler with its owner. */
export interface RegisteredHook<Name extends HookName = HookName> {
  /** Name of the extension. */
  readonly owner: string
  readonly handler: HookHandlers[Name]
  readonly order: number
  readonly timeoutMs: number
}

/** What extensions have registered, by point and in order. */
export interface Hooks {
  /** A list that never changes: what is registered or disposed of meanwhile is in the next one. */
  at<Name extends HookName>(name: Name): readonly RegisteredHook<Name>[]
  /** What an entry counts for as a result of `toolName`; `null` for nothing. */
  dataIn(entry: Entry, toolName: string): JsonValue | null
  /** Undoes the setup of its extensions, the last one first. Never rejects. */
  close(): Promise<void>
}

/** Sets extensions up. One that throws is logged, what it had registered is taken back, and the others work. */
export function createHooks(extensions: readonly Extension[], { logger }: { readonly logger: Logger }): Hooks {
  const table = new HookTable(logger)
  for (const extension of extensions) table.add(extension)
  return table
}

class HookTable implements Hooks {
  readonly #logger: Logger
  readonly #lists = new Map<HookName, readonly RegisteredHook[]>()
  #readers: readonly DataReader[] = []
  readonly #owners = new Set<string>()
  readonly #cleanups: { readonly owner: string; readonly run: Cleanup }[] = []

  constructor(logger: Logger) {
    this.#logger = logger
  }

  add(extension: Extension): void {
    const { name: owner } = extension
    if (this.#owners.has(owner)) {
      this.#logger.error(`Two extensions are called ${owner}; the second one is left out.`)
      return
    }
    this.#owners.add(owner)
    try {
      const run: unknown = extension.setup({
        hooks: { on: (name, handler, options) => this.#on(owner, name, handler, options) },
        toolData: { from: (toolName, read) => this.#readFrom({ owner, toolName, read }) },
      })
      if (run instanceof Promise) throw lateSetup(run)
      if (typeof run === 'function') this.#cleanups.push({ owner, run: run as Cleanup })
    } catch (error) {
      this.#removeAll(owner)
      this.#logger.error(`Extension ${owner} could not be set up and is left out.`, { error: errorLine(error) })
    }
  }

  #on<Name extends HookName>(
    owner: string,
    name: Name,
    handler: HookHandlers[Name],
    { order = 0, timeoutMs = DEFAULT_TIMEOUT_MS }: HookOptions = {},
  ) {
    const registered: RegisteredHook<Name> = { owner, handler, order, timeoutMs }
    // Sorting is stable: of the same order the first one stays first.
    this.#lists.set(name, inOrder([...this.at(name), registered]))
    return { dispose: () => this.#keepOnly(name, (other) => other !== registered) }
  }

  #readFrom(reader: DataReader) {
    this.#readers = [...this.#readers, reader]
    return { dispose: () => this.#keepReaders((other) => other !== reader) }
  }

  #keepReaders(isKept: (reader: DataReader) => boolean): void {
    this.#readers = this.#readers.filter(isKept)
  }

  #keepOnly(name: HookName, isKept: (hook: RegisteredHook) => boolean): void {
    this.#lists.set(name, this.at(name).filter(isKept))
  }

  #removeAll(owner: string): void {
    for (const name of this.#lists.keys()) this.#keepOnly(name, (hook) => hook.owner !== owner)
    this.#keepReaders((reader) => reader.owner !== owner)
  }

  at<Name extends HookName>(name: Name): readonly RegisteredHook<Name>[] {
    return (this.#lists.get(name) ?? NONE) as readonly RegisteredHook<Name>[]
  }

  dataIn(entry: Entry, toolName: string): JsonValue | null {
    for (const reader of this.#readers) {
      if (reader.toolName !== toolName) continue
      try {
        const data = reader.read(entry)
        if (data !== null) return data
      } catch (error) {
        this.#logger.warn(`Extension ${reader.owner} could not read an entry.`, { error: errorLine(error) })
      }
    }
    return null
  }

  async close(): Promise<void> {
    this.#lists.clear()
    this.#readers = []
    for (const { owner, run } of this.#cleanups.splice(0).toReversed()) {
      try {
        await run()
      } catch (error) {
        this.#logger.warn(`Extension ${owner} could not be closed cleanly.`, { error: errorLine(error) })
      }
    }
  }
}

type Cleanup = () => void | Promise<void>

/** What a setup registers later could change a session that runs already. */
function lateSetup(running: Promise<unknown>): Error {
  running.catch(() => undefined)
  return new Error('its setup is asynchronous, and nothing waits for it')
}

interface DataReader {
  readonly owner: string
  readonly toolName: string
  readonly read: (entry: Entry) => JsonValue | null
}

const NONE: readonly RegisteredHook[] = Object.freeze([])

const inOrder = (hooks: readonly RegisteredHook[]) => hooks.toSorted((one, other) => one.order - other.order)
