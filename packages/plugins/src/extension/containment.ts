// What the code of a plugin throws where nobody waits for it would end the process that it runs in. It is kept from that, named, and the plugin
// is off from then on.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { HermesError } from '@hermes/contracts'

/** A plugin that runs inside Hermes, as {@link contain} knows it. */
export interface Contained {
  /** Runs code of the plugin: what it starts is known as its own. */
  run<Result>(work: () => Result): Result
  /**
   * The same value, with functions that run so too, and those of what they give back. Once the plugin has left an error uncaught they throw
   * `plugins.off`, but for those that end something.
   */
  owned<Value>(value: Value): Value
}

interface Containing {
  readonly name: string
  /** Of its files, absolute and without links: errors that were made there are its own. */
  readonly folder: string
  /** Gets the first thing that it left uncaught since it was contained. Must not throw. */
  readonly onFault: (reason: unknown) => void
}

/**
 * Keeps a plugin from ending the process by an error or a rejection that nobody waits for. What is not a plugin's ends the process as if nobody had
 * looked. It lasts as long as the process, as code of a plugin does; a plugin that is contained again, as it is loaded again, is on again.
 * `isFirst` where nothing of this folder was contained before.
 */
export function contain(containing: Containing): { readonly contained: Contained; readonly isFirst: boolean } {
  const watch = watchOf(process) ?? beginWatch()
  const known = watch.plugins.get(containing.folder)
  if (known) {
    known.begin(containing)
    return { contained: known, isFirst: false }
  }
  const contained = new InsidePlugin(containing)
  watch.plugins.set(containing.folder, contained)
  return { contained, isFirst: true }
}

/** Hears of what nobody caught, for all plugins of the process. */
interface Watch {
  (reason: unknown): void
  readonly plugins: Map<string, InsidePlugin>
}

const watchOf = (events: NodeJS.Process) =>
  events.listeners('uncaughtException').find((one): one is Watch => 'plugins' in one)

function beginWatch(): Watch {
  const plugins = new Map<string, InsidePlugin>()
  const watch = Object.assign(
    (reason: unknown) => {
      const whose = [...plugins.values()].find((one) => one.did(reason))
      if (whose) whose.fail(reason)
      else if (hasNoOther(watch)) end(watch, reason)
    },
    { plugins },
  )
  process.on('unhandledRejection', watch)
  process.on('uncaughtException', watch)
  return watch
}

/** Somebody else may have a say in what was left uncaught. */
const hasNoOther = (watch: Watch) =>
  (['unhandledRejection', 'uncaughtException'] as const).every((event) =>
    process.listeners(event as 'uncaughtException').every((one) => one === watch),
  )

/** As Node ends a process in which nobody listens. */
function end(watch: Watch, reason: unknown): void {
  process.off('uncaughtException', watch)
  process.nextTick(() => {
    throw reason
  })
}

class InsidePlugin implements Contained {
  readonly #running = new AsyncLocalStorage<true>()
  readonly #known = new WeakMap<object, object>()
  #containing: Containing
  #isOff = false

  constructor(containing: Containing) {
    this.#containing = containing
  }

  begin(containing: Containing): void {
    this.#containing = containing
    this.#isOff = false
  }

  /**
   * Whether it left that uncaught: its files are among the callers, or it began the work and the error tells of no fault of other code.
   * Where it began work of Hermes, such as a turn of a chat, a mistake in that is not hidden.
   */
  did(reason: unknown): boolean {
    const stack = reason instanceof Error ? (reason.stack ?? '') : ''
    if (stack.includes(`${this.#containing.folder}/`)) return true
    return this.#running.getStore() === true && (HermesError.isInstance(reason) || !OTHER_CODE.test(stack))
  }

  fail(reason: unknown): void {
    if (this.#isOff) return
    this.#isOff = true
    this.#containing.onFault(reason)
  }

  run<Result>(work: () => Result): Result {
    return this.#running.run(true, work)
  }

  owned<Value>(value: Value): Value {
    if (value instanceof Promise) return value.then((result) => this.owned(result)) as Value
    if (!isActive(value)) return value
    const one = this.#known.get(value) ?? (typeof value === 'function' ? this.#function(value) : this.#object(value))
    this.#known.set(value, one)
    return one as Value
  }

  #object(value: object): object {
    const methods = new Map<unknown, object>()
    const proxy: object = new Proxy(value, {
      get: (target, key) => {
        const found: unknown = Reflect.get(target, key)
        if (typeof found !== 'function' || key === 'constructor' || isFixed(target, key)) return found
        const method = methods.get(found) ?? this.#function(found, { key, self: target, proxy: () => proxy })
        methods.set(found, method)
        return method
      },
    })
    return proxy
  }

  #function(method: object, of?: { readonly key: string | symbol; readonly self: object; proxy(): object }): object {
    return new Proxy(method, {
      apply: (target, caller, args) => {
        if (this.#isOff && !(of && ENDS.includes(of.key))) throw this.#off()
        const self: unknown = of && caller === of.proxy() ? of.self : caller
        return this.run(() => this.owned(Reflect.apply(target as () => unknown, self, args)))
      },
    })
  }

  #off(): HermesError {
    const { name } = this.#containing
    return new HermesError(
      `Plugin ${name} left an error uncaught and is off until Hermes starts again; look with hermes plugins doctor.`,
      { code: 'plugins.off', details: { plugin: name } },
    )
  }
}

/** A line of a stack in a file; those of Node itself have none. */
const OTHER_CODE = /^\s+at (?!.*\bnode:).*[/\\]/m

/** They let go of things, which is good at any time. */
const ENDS: readonly (string | symbol)[] = ['close', 'dispose', 'return', Symbol.dispose, Symbol.asyncDispose]

/** Functions, and objects that have some: all else is data. */
function isActive(value: unknown): value is object {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return !isBuiltIn(value)
  return Object.values(value).some((one) => typeof one === 'function')
}

/** What Node and its libraries know by what is inside of it. */
const BUILT_IN = new Set([
  ...['Date', 'RegExp', 'Map', 'Set', 'WeakMap', 'WeakSet', 'Error', 'ArrayBuffer', 'Blob', 'URL', 'URLSearchParams'],
  ...['EventTarget', 'Request', 'Response', 'Headers', 'FormData', 'ReadableStream', 'WritableStream'],
  'TransformStream',
])

/**
 * Whether one of Node's own types made the value or a type that its own extends. A type is looked up by its name first:
 * to name `Response` in code is to have Node load its client of HTTP, which took each start 20 ms.
 */
function isBuiltIn(value: object): boolean {
  if (value instanceof EventEmitter) return true
  for (let type = Object.getPrototypeOf(value); type !== null; type = Object.getPrototypeOf(type)) {
    const name: unknown = Object.hasOwn(type, 'constructor') ? type.constructor?.name : undefined
    if (typeof name === 'string' && BUILT_IN.has(name) && Reflect.get(globalThis, name) === type.constructor)
      return true
  }
  return false
}

const isFixed = (target: object, key: string | symbol) => {
  const property = Reflect.getOwnPropertyDescriptor(target, key)
  return property !== undefined && !property.configurable && !property.writable
}
