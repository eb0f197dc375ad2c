// What the extension of a plugin registers in its own process: as data for Hermes, and as code for the calls that come back.
import type { ExtensionApi, Registration } from '@hermes/contracts/extension'
import type { MemoryProvider } from '@hermes/contracts/memory'
import type { StandardSchema, Tool, ToolSource } from '@hermes/contracts/tool'
import { keyOf, type ListedTool, type PluginListing } from '../listing.js'
import { commandContext, hookEvent, memoryRequest, subcommandContext, toolContext } from './contexts.js'
import type { World } from './remote-world.js'

type Run = (args: never, signal: AbortSignal) => unknown
type Mutable<Lists> = {
  -readonly [Key in keyof Lists]: Lists[Key] extends readonly (infer Item)[] ? Item[] : Lists[Key]
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Takes what one setup registers. */
export class Registrations {
  readonly #world: World
  readonly #runs = new Map<string, Run>()
  readonly #listing: Mutable<PluginListing> = {
    ...{ tools: [], sources: [], hooks: [], sections: [], configKeys: [], checks: [], commands: [], subcommands: [] },
    ...{ routes: [], jobs: [], memories: [], providers: [], problems: [] },
  }
  readonly #memories = new Map<number, MemoryProvider>()
  readonly #checks: (() => Promise<void>)[] = []
  #isSetUp = false

  constructor(world: World) {
    this.#world = world
  }

  /** Resolves once the extension is set up, its config checked. */
  async setUp(setup: (api: ExtensionApi) => unknown, config: Readonly<Record<string, unknown>>): Promise<void> {
    const running = setup(this.#api(config))
    if (running instanceof Promise) {
      running.catch(() => undefined)
      throw new Error('its setup is asynchronous, and nothing waits for it')
    }
    this.#isSetUp = true
    for (const check of this.#checks) await check()
  }

  listing(): PluginListing {
    return this.#listing
  }

  async run(key: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    const run = this.#runs.get(key)
    if (!run) throw new Error(`it did not register ${key} this time`)
    return run(args as never, signal)
  }

  #add(kind: string, name: string, run: Run, list: () => void): Registration {
    const key = keyOf(kind, name)
    if (this.#isSetUp)
      throw new Error(`${kind} ${name.slice(0, 80)} comes after setup; a plugin that runs apart registers in it`)
    const most = kind === 'route' || kind === 'hook' ? 500 : 64
    if (typeof name !== 'string' || name === '' || name.length > most)
      throw new Error(`the name of a ${kind} has 1 to ${most} characters`)
    if (this.#runs.has(key)) throw new Error(`it registers the ${kind} ${name.slice(0, 80)} twice`)
    this.#runs.set(key, run)
    list()
    return { dispose: () => void this.#runs.delete(key) }
  }

  #api(config: Readonly<Record<string, unknown>>): ExtensionApi {
    const listing = this.#listing
    const world = this.#world
    const inside = (what: string) => {
      throw new Error(`${what} works inside Hermes only: set "runs": "inside" in its manifest`)
    }
    return {
      hooks: {
        on: (point, handler, options = {}) => {
          // What a handler stands around is not in its process.
          if (point === 'model-execution' || point === 'tool-execution') inside(`a hook at ${point}`)
          const key = `${point} ${listing.hooks.length}`
          const run: Run = (args, signal) => (handler as (event: unknown) => unknown)(hookEvent(world, args, signal))
          return this.#add('hook', key, run, () => listing.hooks.push({ key, point, ...finite(options) }))
        },
      },
      toolData: { from: () => inside('toolData') },
      tools: {
        add: (tool, options = {}) =>
          this.#add('tool', tool.name, this.#toolRun(tool), () => listing.tools.push(this.#listed(tool, options))),
        addSource: (source) => this.#addSource(source),
      },
      prompt: {
        section: (section) =>
          this.#add(
            'section',
            section.name,
            (args) => section.render(args),
            () => {
              const { name, order = 0, maxBytes } = section
              listing.sections.push({ name, order, ...(maxBytes === undefined ? {} : { maxBytes }) })
            },
          ),
      },
      config: {
        section: ({ key, schema, problems }) => {
          let value: unknown
          this.#checks.push(async () => {
            if (!(key in config)) return
            const result = await schema['~standard'].validate(config[key])
            const wrong = result.issues ? result.issues[0]?.message : problems?.(result.value as never)[0]?.message
            if (wrong !== undefined) throw new Error(`${key} of config.yaml: ${wrong}`)
            if (!result.issues) value = result.value
          })
          const added = this.#add(
            'config',
            key,
            () => null,
            () => listing.configKeys.push(key),
          )
          return {
            ...added,
            get value() {
              return value as never
            },
          }
        },
      },
      doctor: {
        check: ({ name, run }) =>
          this.#add(
            'check',
            name,
            (args: object, signal) => run({ ...args, signal } as never),
            () => listing.checks.push(name),
          ),
      },
      commands: {
        add: (command) => {
          const { run, complete, ...data } = command
          const key = keyOf('complete', command.name)
          if (complete)
            this.#runs.set(key, ({ words, ...args }: { words: string[] }, signal) =>
              complete.call(command, words, commandContext(world, args as never, signal)),
            )
          return this.#add(
            'command',
            command.name,
            ({ args, ...context }: { args: never }, signal) =>
              run.call(command, args, commandContext(world, context as never, signal)),
            () => listing.commands.push({ ...data, hasComplete: complete !== undefined }),
          )
        },
      },
      subcommands: {
        add: ({ load, ...data }) =>
          this.#add(
            'subcommand',
            data.name,
            async ({ options, ...context }: { options: never }, signal) =>
              (await load())(options, subcommandContext(world, context as never, signal)),
            () => listing.subcommands.push(data),
          ),
      },
      routes: {
        add: ({ method, path, scope, handle }) =>
          this.#add(
            'route',
            `${method} ${path}`,
            (args, signal) => answered(handle, args, signal),
            () => listing.routes.push({ method, path, scope }),
          ),
      },
      jobs: {
        handle: ({ kind, run }) =>
          this.#add(
            'job',
            kind,
            (job, signal) => run(job, { signal }),
            () => listing.jobs.push(kind),
          ),
      },
      factories: {
        add: (kind, name, create) => {
          if (kind === 'model-provider') {
            const provider = (create as () => never)()
            return this.#add(
              'provider',
              name,
              () => null,
              () => listing.providers.push({ name, provider }),
            )
          }
          if (kind !== 'memory') return inside(`a ${kind}`)
          return this.#add(
            'memory',
            name,
            (args, signal) => this.#memory(create as never, args, signal),
            () => listing.memories.push(name),
          )
        },
      },
    }
  }

  /** What is data of a tool; the rest is asked for when it is called. */
  #listed(tool: Tool, { deferred }: { readonly deferred?: boolean }): ListedTool {
    const {
      name,
      toolset,
      description,
      parameters,
      aliases,
      effect,
      concurrency,
      icon,
      requires,
      external,
      keepsData,
      maxResultChars,
    } = tool
    if (!NAME.test(name))
      throw new Error(
        `${JSON.stringify(name.slice(0, 80))} cannot be the name of a tool: letters, digits, _ and -, 64 at most`,
      )
    for (const part of ['paths', 'actions', 'onlyLooks', 'describe', 'summarize'] as const)
      if (tool[part])
        this.#listing.problems.push(`${part} of the tool ${name} has no effect: it runs apart, and asks as it acts.`)
    const data = { aliases, effect, icon, requires, external, keepsData, maxResultChars, deferred }
    const present = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
    return {
      ...{
        name,
        toolset,
        description,
        parameters: jsonSchemaOf(parameters),
        hasAvailable: tool.available !== undefined,
      },
      ...(typeof concurrency === 'string' ? { concurrency: concurrency === 'path' ? 'exclusive' : concurrency } : {}),
      ...present,
    }
  }

  #toolRun(tool: Tool): Run {
    if (tool.available) this.#runs.set(keyOf('available', tool.name), () => tool.available!())
    return async ({ args, place }: { args: unknown; place: never }, signal) => {
      const { parameters } = tool
      let value = args
      if (isStandard(parameters)) {
        const result = await parameters['~standard'].validate(args)
        if (result.issues) throw new Error(result.issues[0]?.message ?? 'the arguments do not fit')
        value = result.value
      }
      return tool.execute(value, toolContext(this.#world, place, signal))
    }
  }

  #addSource(source: ToolSource): Registration {
    const { name, description, deferred } = source
    const end = source.onChange?.(() => this.#world.channel.notify('changed', { name }))
    const known = new Map<string, Run>()
    this.#runs.set(keyOf('source-tool', name), ({ tool, ...call }: { tool: string }, signal) => {
      const run = known.get(tool)
      if (!run) throw new Error(`there is no tool ${tool} any more`)
      return run(call as never, signal)
    })
    const list: Run = async (_, signal) => {
      const tools = await source.list(signal)
      known.clear()
      for (const tool of tools) known.set(tool.name, this.#toolRun(tool))
      return tools.map((tool) => this.#listed(tool, {}))
    }
    const added = this.#add('source', name, list, () =>
      this.#listing.sources.push({
        name,
        ...(description === undefined ? {} : { description }),
        ...(deferred === undefined ? {} : { deferred }),
      }),
    )
    return {
      dispose: () => {
        end?.()
        added.dispose()
      },
    }
  }

  async #memory(
    create: (request: ReturnType<typeof memoryRequest>) => MemoryProvider | Promise<MemoryProvider>,
    { op, id, request, params = [] }: { op: string; id?: number; request?: never; params?: readonly unknown[] },
    signal: AbortSignal,
  ): Promise<unknown> {
    if (op === 'open') {
      const opened = this.#memories.size + 1
      this.#memories.set(opened, await create(memoryRequest(this.#world, request!)))
      return opened
    }
    const provider = this.#memories.get(id!)
    if (!provider) throw new Error('its memory was opened in a process that has ended')
    const [first, more] = params
    switch (op) {
      case 'recall':
        return provider.recall(first as string, { ...(more as { limit: number }), signal })
      case 'keep':
        return provider.keep(first as never, { signal })
      case 'store':
        return provider.store(first as string, { signal })
      case 'forget':
        return provider.forget(first as string, { signal })
      case 'check':
        return provider.check({ signal })
      default:
        return provider.close()
    }
  }
}

/** JSON has no infinity: a hook that may take any time says so by a large number. */
function finite({ order, timeoutMs }: { readonly order?: number; readonly timeoutMs?: number }) {
  return {
    ...(order === undefined ? {} : { order }),
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, 3_600_000) }),
  }
}

const isStandard = (parameters: Tool['parameters']): parameters is StandardSchema => '~standard' in parameters

function jsonSchemaOf(parameters: Tool['parameters']): ListedTool['parameters'] {
  if (!isStandard(parameters)) return parameters
  const { jsonSchema } = parameters['~standard']
  if (!jsonSchema)
    throw new Error('the schema of a tool cannot describe itself as JSON Schema; give JSON Schema instead')
  const { $schema: _, ...schema } = jsonSchema.input({ target: 'draft-2020-12' })
  return schema as ListedTool['parameters']
}

async function answered(
  handle: (request: Request, parameters: Readonly<Record<string, string>>) => Response | Promise<Response>,
  {
    url,
    method,
    headers,
    body,
    parameters,
  }: {
    url: string
    method: string
    headers: [string, string][]
    body: string | null
    parameters: Record<string, string>
  },
  signal: AbortSignal,
): Promise<unknown> {
  const bytes = body === null ? null : Buffer.from(body, 'base64')
  const response = await handle(new Request(url, { method, headers, body: bytes, signal }), parameters)
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
  }
}
