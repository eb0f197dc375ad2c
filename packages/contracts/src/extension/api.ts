import type { Entry } from '../conversation.js'
import type { JsonValue } from '../json.js'
import type { StandardSchema, Tool, ToolSource } from '../tool.js'
import type { Command } from './command.js'
import type { ConfigSection, ConfigValue, Registration } from './config-section.js'
import type { DoctorCheck } from './doctor-check.js'
import type { Factories } from './factories.js'
import type { HookHandlers, HookName, HookOptions } from './hooks.js'
import type { JobHandler } from './job-handler.js'
import type { PromptSection } from './prompt-section.js'
import type { Subcommand } from './subcommand.js'

/** A part of Hermes: built in, or from somebody else. */
export interface Extension {
  /** Tells it from the others: lower case letters, digits and dashes. */
  readonly name: string
  /**
   * Registers what the part does and returns what undoes the rest. A home sets it up once, for all of its sessions; an agent without a home
   * sets up its own. It runs before anything else, so it loads nothing and waits for nothing. When it throws, gives back a promise, or its
   * name is taken, the part is named as a problem and left out; everything else works.
   */
  setup(api: ExtensionApi): (() => void | Promise<void>) | void
}

/** How a tool is offered. */
export interface ToolOptions {
  /** It is found by `tool_search` instead of being defined. Default: as its toolset is; those of extensions are not. */
  readonly deferred?: boolean
}

/**
 * What an extension registers with. Every registration belongs to it and goes when it goes. A name that another part has registered
 * throws `extension.name_taken`.
 */
export interface ExtensionApi {
  readonly hooks: {
    /** Calls `handler` at that point from now on. A point that is dispatched right now is not affected. */
    on<Name extends HookName>(name: Name, handler: HookHandlers[Name], options?: HookOptions): Registration
  }
  readonly toolData: {
    /**
     * Has entries of the log count as results of `toolName`: what `read` gives is what {@link ToolState.latest} finds. It is asked for many
     * entries in a row, so it only looks at the one it gets; one that throws gives nothing.
     */
    from(toolName: string, read: (entry: Entry) => JsonValue | null): Registration
  }
  readonly tools: {
    /**
     * Has a tool as long as it is not taken back. A session that began before finds it by `tool_search`, where it has that; one that was
     * shown it keeps the definition, and a call is answered with an error once the tool is gone. Throws `registry.bad_name` and
     * `registry.bad_schema`.
     */
    add(tool: Tool, options?: ToolOptions): Registration
    /** The same for tools that come, change and go by themselves. */
    addSource(source: ToolSource): Registration
  }
  readonly prompt: {
    /** Adds to the system text of new sessions. */
    section(section: PromptSection): Registration
  }
  readonly config: {
    /** Takes a top-level key of config.yaml that Hermes itself has no meaning for. */
    section<Value>(section: ConfigSection<Value> & { readonly schema: StandardSchema<Value> }): ConfigValue<Value>
  }
  readonly doctor: {
    /** Looks at something when a person runs `hermes doctor`. */
    check(check: DoctorCheck): Registration
  }
  readonly commands: {
    /** Adds `/name` to sessions. Its aliases are names too. */
    add(command: Command): Registration
  }
  readonly subcommands: {
    /** Adds `hermes NAME`. */
    add(subcommand: Subcommand): Registration
  }
  readonly routes: {
    /** Adds a route to the gateway, below `/extensions/NAME` of this extension. */
    add(route: Route): Registration
  }
  readonly jobs: {
    /** Does the jobs of a kind that the store's queue holds. */
    handle(handler: JobHandler): Registration
  }
  readonly factories: {
    /** Makes what config.yaml names `name` where it chooses one of that kind. What is built in keeps its names. */
    add<Kind extends keyof Factories>(kind: Kind, name: string, create: Factories[Kind]): Registration
  }
}

/** A route of the gateway. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/extensions/NAME`, with a slash first; `:id` stands for one part of a path. */
  readonly path: string
  /**
   * Who may ask. `api`: who may use the API. `open`: programs without its key too; the handler itself checks who asks, as for the signed
   * requests of other services. A gateway without a key answers programs of its machine only, whatever this says.
   */
  readonly scope: 'api' | 'open'
  /** Rejects for a failure, which is logged and answered 500. Bodies have at most 10 MB. `signal` of the request fires when its reader has gone. */
  handle(request: Request, parameters: Readonly<Record<string, string>>): Response | Promise<Response>
}
