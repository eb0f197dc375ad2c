import { type Clock, errorLine, HermesError, type Logger, systemClock } from '@hermes/contracts'
import type {
  Command,
  ConfigSection,
  DoctorCheck,
  Extension,
  ExtensionApi,
  Factories,
  JobHandler,
  PromptSection,
  Registration,
  Route,
  Subcommand,
  ToolOptions,
} from '@hermes/contracts/extension'
import type { Tool, ToolSource } from '@hermes/contracts/tool'
import { createToolRegistry, isBuiltIn, type ToolRegistry } from '@hermes/registry'
import { OutsidePoints } from '../hooks/outside.js'
import { type Hooks, HookTable } from './hook-table.js'

/** What extensions register by name, beside hooks. */
interface Contributions {
  readonly section: PromptSection
  readonly config: ConfigSection
  readonly check: DoctorCheck
  readonly command: Command
  readonly subcommand: Subcommand
  readonly route: Route
  readonly job: JobHandler
  readonly factory: Factory
  readonly tool: Tool
  readonly toolSource: ToolSource
}

/** A factory of one kind. */
type Factory = {
  readonly [Kind in keyof Factories]: {
    readonly kind: Kind
    readonly name: string
    readonly create: Factories[Kind]
  }
}[keyof Factories]

/** Something registered, and by which extension. */
export interface Contribution<Kind extends keyof Contributions> {
  readonly owner: string
  readonly item: Contributions[Kind]
}

/** Extensions that were set up together, and what they have registered by now. */
export interface ExtensionRegistry {
  /** Sets one more up, as {@link createExtensionRegistry} does. */
  add(extension: Extension): void
  readonly hooks: Hooks
  /** Where those are asked and told that no run belongs to. */
  readonly outside: OutsidePoints
  /** The tools they bring, as they come and go. */
  readonly tools: ToolRegistry
  /** In the order of registration; a list that never changes. */
  list<Kind extends keyof Contributions>(kind: Kind): readonly Contribution<Kind>[]
  /** Calls `listener` whenever a command has come or gone, until what it gives back is called. A listener must not throw. */
  watchCommands(listener: () => void): () => void
  /** What makes things of that kind and name; `undefined` where no extension does. */
  factory<K extends keyof Factories>(kind: K, name: string): Factories[K] | undefined
  /** Gives the key of a config section its value. */
  setConfig(key: string, value: unknown): void
  /** One line for each extension that was left out. */
  readonly problems: readonly string[]
  /** Undoes the setups, the last one first. Never rejects, and waits for each as long as `closesWithinMs` says. */
  close(): Promise<void>
}

/** Options of {@link createExtensionRegistry}. */
interface ExtensionRegistryOptions {
  readonly logger: Logger
  /** Default: that of the machine. */
  readonly clock?: Clock
  /** How long one extension may take to be closed, in milliseconds. Default 10,000. */
  readonly closesWithinMs?: number
}

/** Sets extensions up. One that throws is named in `problems` and in the log, what it had registered is taken back, and the others work. */
export function createExtensionRegistry(
  extensions: readonly Extension[],
  options: ExtensionRegistryOptions,
): ExtensionRegistry {
  const registry = new OwnedRegistry(options)
  for (const extension of extensions) registry.add(extension)
  return registry
}

type Kind = keyof Contributions
type Owned = {
  [K in Kind]: Contribution<K> & { readonly kind: K; readonly name: string; readonly undo?: (() => void) | undefined }
}[Kind]
type Cleanup = () => void | Promise<void>

class OwnedRegistry implements ExtensionRegistry {
  readonly hooks: HookTable
  readonly outside: OutsidePoints
  readonly tools: ToolRegistry
  readonly problems: string[] = []
  readonly #logger: Logger
  readonly #closesWithinMs: number
  readonly #config = new Map<string, unknown>()
  readonly #owners = new Set<string>()
  /** Those left out, or closed: they may still have what they register with. */
  readonly #gone = new Set<string>()
  readonly #cleanups: { readonly owner: string; readonly run: Cleanup }[] = []
  #contributions: Owned[] = []
  /** By kind and name: a home may bring hundreds of commands. */
  readonly #taken = new Map<string, Owned>()
  readonly #watchers = new Set<() => void>()

  constructor({ logger, clock = systemClock, closesWithinMs = CLOSES_WITHIN_MS }: ExtensionRegistryOptions) {
    this.#logger = logger
    this.#closesWithinMs = closesWithinMs
    this.hooks = new HookTable(logger)
    this.outside = new OutsidePoints(this.hooks, { clock, logger })
    this.tools = createToolRegistry({ logger })
  }

  add(extension: Extension): void {
    const { name: owner } = extension
    if (this.#owners.has(owner)) {
      this.#leaveOut(`Two extensions are called ${owner}; the second one is left out.`)
      return
    }
    this.#owners.add(owner)
    try {
      if (!NAME.test(owner)) throw new Error('its name may have lower case letters, digits and dashes only')
      const run: unknown = extension.setup(this.#apiOf(owner))
      if (run instanceof Promise) throw lateSetup(run)
      if (typeof run === 'function') this.#cleanups.push({ owner, run: run as Cleanup })
    } catch (error) {
      this.#remove(owner)
      this.#leaveOut(`Extension ${owner} could not be set up and is left out: ${errorLine(error).replace(/\.$/, '')}.`)
    }
  }

  #apiOf(owner: string): ExtensionApi {
    const add = <K extends Kind>(kind: K, name: string, item: Contributions[K], begin?: () => Registration) =>
      this.#contribute({ kind, name, owner, item } as Owned, begin)
    const hooks = () => {
      this.#requireThere(owner)
      return this.hooks
    }
    return {
      hooks: { on: (name, handler, options) => hooks().on(owner, name, handler, options) },
      toolData: { from: (toolName, read) => hooks().readFrom({ owner, toolName, read }) },
      tools: {
        add: (tool, options) => add('tool', tool.name, tool, () => this.#addTool(tool, options)),
        addSource: (source) => add('toolSource', source.name, source, () => this.tools.addSource(source)),
      },
      prompt: { section: (section) => add('section', section.name, section) },
      config: { section: (section) => this.#configValue(section.key, add('config', section.key, section)) },
      doctor: { check: (check) => add('check', check.name, check) },
      commands: { add: (command) => this.#addCommand(owner, command) },
      subcommands: { add: (subcommand) => add('subcommand', subcommand.name, subcommand) },
      routes: { add: (route) => add('route', `${route.method} /${owner}${route.path}`, route) },
      jobs: { handle: (handler) => add('job', handler.kind, handler) },
      factories: {
        add: (kind, name, create) => add('factory', `${kind} ${name}`, { kind, name, create } as Factory),
      },
    }
  }

  #addTool(tool: Tool, options?: ToolOptions): Registration {
    const taken = [tool.name, ...(tool.aliases ?? [])].find(isBuiltIn)
    if (taken === undefined) return this.tools.add(tool, options)
    throw new HermesError(`the tool ${taken} is one of Hermes`, { code: 'extension.name_taken' })
  }

  /** What a setup that was left out goes on to register would be in sessions all the same. */
  #requireThere(owner: string): void {
    if (!this.#gone.has(owner)) return
    throw new HermesError(`The extension ${owner} was left out or closed; it registers nothing more.`, {
      code: 'extension.gone',
    })
  }

  #contribute(named: Owned, begin?: () => Registration): Registration {
    this.#requireThere(named.owner)
    const keys = keysOf(named)
    const taken = keys.map((key) => this.#taken.get(key)).find((other) => other !== undefined)
    if (taken) throw nameTaken(taken.kind, taken.name, taken.owner)
    const owned: Owned = { ...named, undo: begin?.().dispose }
    this.#contributions.push(owned)
    for (const key of keys) this.#taken.set(key, owned)
    this.#notify([owned])
    return { dispose: () => this.#keepOnly((other) => other !== owned) }
  }

  #addCommand(owner: string, command: Command): Registration {
    const names = [command.name, ...(command.aliases ?? [])]
    const wrong = names.find((name, index) => !COMMAND.test(name) || names.indexOf(name) !== index)
    if (wrong !== undefined) {
      throw new HermesError(
        `“${wrong}” cannot be the name of a command, which has lower case letters, digits and dashes, once`,
        {
          code: 'extension.bad_name',
        },
      )
    }
    return this.#contribute({ kind: 'command', name: command.name, owner, item: this.#gated(command) })
  }

  /** Whoever lists the command, and however it is called, gates are asked first. */
  #gated(command: Command): Command {
    const { name } = command
    if (UNASKED.has(name)) return command
    const run: Command['run'] = async (args, context) => {
      const { caller, session, signal } = context
      const own = { command: name, args, platform: caller.platform, user: caller.user, sessionId: session?.id ?? null }
      await this.outside.mustPass('before-command', own, { signal, code: 'command.blocked' })
      return command.run(args, context)
    }
    const complete = command.complete?.bind(command)
    const direct: Command['run'] = (args, context) =>
      this.outside.has('before-command') ? run(args, context) : command.run(args, context)
    return { ...command, run: direct, ...(complete ? { complete } : {}) }
  }

  #configValue<Value>(key: string, { dispose }: Registration) {
    const config = this.#config
    return {
      dispose,
      get value(): Value | undefined {
        return config.get(key) as Value | undefined
      },
    }
  }

  setConfig(key: string, value: unknown): void {
    this.#config.set(key, value)
  }

  list<K extends Kind>(kind: K): readonly Contribution<K>[] {
    return this.#contributions.filter((owned) => owned.kind === kind) as unknown as readonly Contribution<K>[]
  }

  factory<K extends keyof Factories>(kind: K, name: string): Factories[K] | undefined {
    const found = this.list('factory').find(({ item }) => item.kind === kind && item.name === name)
    return found?.item.create as Factories[K] | undefined
  }

  #keepOnly(isKept: (owned: Owned) => boolean): void {
    const gone = this.#contributions.filter((owned) => !isKept(owned))
    this.#contributions = this.#contributions.filter(isKept)
    for (const owned of gone) for (const key of keysOf(owned)) this.#taken.delete(key)
    for (const { undo } of gone) undo?.()
    this.#notify(gone)
  }

  #notify(changed: readonly Owned[]): void {
    if (changed.some(({ kind }) => kind === 'command')) for (const listener of this.#watchers) listener()
  }

  watchCommands(listener: () => void): () => void {
    this.#watchers.add(listener)
    return () => void this.#watchers.delete(listener)
  }

  #remove(owner: string): void {
    this.#gone.add(owner)
    this.hooks.removeAll(owner)
    this.#keepOnly((owned) => owned.owner !== owner)
  }

  #leaveOut(problem: string): void {
    this.problems.push(problem)
    this.#logger.error(problem)
  }

  async close(): Promise<void> {
    for (const owner of this.#owners) this.#remove(owner)
    for (const { owner, run } of this.#cleanups.splice(0).toReversed()) {
      try {
        await orLate(run, this.#closesWithinMs)
      } catch (error) {
        this.#logger.warn(`Extension ${owner} could not be closed cleanly.`, { error: errorLine(error) })
      }
    }
  }
}

/** What nothing else may be called: of a command all of its names. */
function keysOf({ kind, name, item }: Pick<Owned, 'kind' | 'name' | 'item'>): readonly string[] {
  const names = kind === 'command' ? [name, ...((item as Command).aliases ?? [])] : [name]
  return names.map((one) => `${kind} ${one}`)
}

function nameTaken(kind: Kind, name: string, owner: string): HermesError {
  return new HermesError(`the ${kind} ${name} is taken by ${owner}`, { code: 'extension.name_taken' })
}

const CLOSES_WITHIN_MS = 10_000
/** What stops, answers, leaves or mends: a gate that fails must not stand in the way of it. */
const UNASKED: ReadonlySet<string> = new Set(['stop', 'approvals', 'exit', 'reload', 'hooks', 'plugins', 'doctor'])
const COMMAND = /^[a-z][a-z0-9-]{0,31}$/
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/

/** What never ends must not hold up the end of the program. */
async function orLate(run: Cleanup, withinMs: number): Promise<void> {
  const signal = AbortSignal.timeout(withinMs)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`it took longer than ${withinMs} ms`)), { once: true })
  })
  late.catch(() => undefined)
  await Promise.race([run(), late])
}

/** What a setup registers later could change a session that runs already. */
function lateSetup(running: Promise<unknown>): Error {
  running.catch(() => undefined)
  return new Error('its setup is asynchronous, and nothing waits for it')
}
