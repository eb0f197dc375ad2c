import { errorLine, type JsonValue, type Logger } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'
import type { HookHandlers, HookName, HookOptions, Registration } from '@hermes/contracts/extension'

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
}

/** The same hooks without those of some extensions. */
export function hooksWithout(hooks: Hooks, owners: readonly string[]): Hooks {
  if (owners.length === 0) return hooks
  // The lists never change, so one that was filtered stays as it is for as long as it is the list of its point.
  const filtered = new WeakMap<readonly RegisteredHook[], readonly RegisteredHook[]>()
  return {
    at: <Name extends HookName>(name: Name) => {
      const all = hooks.at(name)
      const known = filtered.get(all) ?? all.filter(({ owner }) => !owners.includes(owner))
      filtered.set(all, known)
      return known as readonly RegisteredHook<Name>[]
    },
    dataIn: (entry, toolName) => hooks.dataIn(entry, toolName),
  }
}

/** The handlers of all extensions, in lists that are replaced and never changed. */
export class HookTable implements Hooks {
  readonly #logger: Logger
  readonly #lists = new Map<HookName, readonly RegisteredHook[]>()
  #readers: readonly DataReader[] = []

  constructor(logger: Logger) {
    this.#logger = logger
  }

  on<Name extends HookName>(
    owner: string,
    name: Name,
    handler: HookHandlers[Name],
    { order = 0, timeoutMs = DEFAULT_TIMEOUT_MS }: HookOptions = {},
  ): Registration {
    const registered: RegisteredHook<Name> = { owner, handler, order, timeoutMs }
    // Sorting is stable: of the same order the first one stays first.
    this.#lists.set(name, inOrder([...this.at(name), registered]))
    return { dispose: () => this.#keepOnly(name, (other) => other !== registered) }
  }

  readFrom(reader: DataReader): Registration {
    this.#readers = [...this.#readers, reader]
    return { dispose: () => this.#keepReaders((other) => other !== reader) }
  }

  removeAll(owner: string): void {
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

  #keepOnly(name: HookName, isKept: (hook: RegisteredHook) => boolean): void {
    this.#lists.set(name, this.at(name).filter(isKept))
  }

  #keepReaders(isKept: (reader: DataReader) => boolean): void {
    this.#readers = this.#readers.filter(isKept)
  }
}

interface DataReader {
  readonly owner: string
  readonly toolName: string
  readonly read: (entry: Entry) => JsonValue | null
}

const NONE: readonly RegisteredHook[] = Object.freeze([])

const inOrder = (hooks: readonly RegisteredHook[]) => hooks.toSorted((one, other) => one.order - other.order)
