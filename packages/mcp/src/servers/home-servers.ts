import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { ExtensionApi, Registration } from '@hermes/contracts/extension'
import type { Tool, ToolSource } from '@hermes/contracts/tool'
import type { PromptCommands } from '../prompts/prompt-commands.js'
import type { ServerSettings } from '../settings/server-settings.js'
import type { Calls } from '../tools/calls.js'
import { toolsetName } from '../tools/names.js'
import { toolsOf } from '../tools/server-tools.js'
import { changedTools } from './listing.js'
import { McpServer, type ServerOptions } from './server.js'

/** How long a home that ends waits for what servers offer that are starting for the first time. */
const KEPT_WITHIN_MS = 1_000

/** What the servers of a home share. */
type SharedOptions = Omit<ServerOptions, 'settings' | 'auth' | 'answers'> & {
  readonly clock: Clock
  readonly logger: Logger
  readonly calls: Calls
  readonly answersOf?: (settings: ServerSettings) => ServerOptions['answers']
  readonly authOf?: (settings: ServerSettings) => ServerOptions['auth']
}

/** A server of those options. */
export function createServer(settings: ServerSettings, { answersOf, authOf, ...shared }: SharedOptions): McpServer {
  const [answers, auth] = [answersOf?.(settings), authOf?.(settings)]
  return new McpServer({ ...shared, settings, ...(answers ? { answers } : {}), ...(auth ? { auth } : {}) })
}

/** When the tools of a server are known. */
interface Revealing {
  /** Whether they are from now on. */
  readonly isRevealed: boolean
  /** Takes what is to be called once they are. */
  revealed(call: () => void): void
  /** Called whenever it was listed. */
  onListed(): void
}

/** A server as a source of tools. It lists what is known, by default at once, and says when that changes; listing never connects. */
export function toSource(server: McpServer, calls: Calls, revealing?: Revealing): ToolSource {
  let isHarmless = false
  return {
    name: toolsetName(server.name),
    description: `the MCP server ${server.name}`,
    deferred: true,
    // What the person chose is no text of strangers, unless it reads like orders or is not what was seen then. What calls give always is.
    get trusted() {
      return isHarmless
    },
    listsLater: revealing?.isRevealed === false,
    async list() {
      try {
        await server.load()
        const tools = toolsOf(server, calls)
        const asAccepted =
          server.settings.trust === 'full' && (!server.listing || changedTools(server.listing).length === 0)
        isHarmless = asAccepted && (await areHarmless(tools))
        return tools
      } finally {
        revealing?.onListed()
      }
    },
    onChange: (changed) => {
      revealing?.revealed(changed)
      return server.onChange(changed)
    },
  }
}

async function areHarmless(tools: readonly Tool[]): Promise<boolean> {
  if (tools.length === 0) return true
  const { scanContext } = await import('@hermes/safety/scan')
  return tools.every(({ description, parameters }) => scanContext(`${description}\n${words(parameters)}`).length === 0)
}

/** The texts in a schema, a line each, as a model reads them. */
function words(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, item]) => `${key}: ${words(item)}`)
    .join('\n')
}

/** The servers that config.yaml names, as they come and go with it. */
export class HomeServers {
  readonly #options: SharedOptions
  readonly #api: ExtensionApi
  readonly #prompts: PromptCommands
  readonly #servers = new Map<
    string,
    {
      readonly server: McpServer
      readonly source: Registration
      readonly key: string
      /** Resolves once it was listed for the first time. */
      readonly listed: Promise<void>
    }
  >()

  #isRevealed = false
  readonly #whenRevealed: (() => void)[] = []

  /** Those that have gone and have not ended. */
  readonly #leaving = new Set<McpServer>()
  #collisions: readonly string[] = []

  constructor(api: ExtensionApi, prompts: PromptCommands, options: SharedOptions) {
    this.#api = api
    this.#prompts = prompts
    this.#options = options
  }

  list(): readonly McpServer[] {
    return [...this.#servers.values()].map(({ server }) => server)
  }

  get(name: string): McpServer | null {
    return this.#servers.get(name)?.server ?? null
  }

  /** Servers that are left out because their name is taken, a line each. */
  collisions(): readonly string[] {
    return this.#collisions
  }

  /** Has these servers from now on. One whose configuration is the same goes on as it is; one that goes ends its calls first. */
  set(all: readonly ServerSettings[]): { readonly added: readonly string[]; readonly removed: readonly string[] } {
    const wanted = new Map(all.filter(({ isEnabled }) => isEnabled).map((one) => [one.name, one]))
    const gone = [...this.#servers].filter(([name, { key }]) => JSON.stringify(wanted.get(name)) !== key)
    for (const [name, { source, server }] of gone) {
      source.dispose()
      this.#leaving.add(server)
      void server.leave().finally(() => this.#leaving.delete(server))
      this.#prompts.remove(name)
      this.#servers.delete(name)
    }
    const added: string[] = []
    const collisions: string[] = []
    for (const [name, settings] of wanted) {
      if (this.#servers.has(name)) continue
      const server = createServer(settings, this.#options)
      const { promise: listed, resolve: onListed } = Promise.withResolvers<void>()
      const revealing = {
        isRevealed: this.#isRevealed,
        revealed: (call: () => void) => {
          if (!this.#isRevealed) this.#whenRevealed.push(call)
        },
        onListed,
      }
      try {
        const source = this.#api.tools.addSource(toSource(server, this.#options.calls, revealing))
        this.#servers.set(name, { server, source, key: JSON.stringify(settings), listed })
        server.onChange(() => this.#prompts.update(server))
        added.push(name)
      } catch (error) {
        // Two names that differ in signs only are one to a model.
        collisions.push(`The MCP server ${name} is left out: ${errorLine(error)} Give it another name.`)
      }
    }
    this.#collisions = collisions
    return { added, removed: gone.map(([name]) => name).filter((name) => !this.#servers.has(name)) }
  }

  /**
   * Has the tools that are known from before. Until this is called nothing of them is read: hundreds of tools take longer than a first request may
   * wait. Resolves once they are there. Never rejects.
   */
  async reveal(): Promise<void> {
    this.#isRevealed = true
    for (const call of this.#whenRevealed.splice(0)) call()
    await Promise.all([...this.#servers.values()].map(({ listed }) => listed))
    // What is listed is taken in before anything else happens.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }

  /** Starts those of which nothing is known yet, side by side. Nobody waits. */
  begin(): void {
    for (const server of this.list())
      void server.load().then(() => {
        if (server.listing) this.#prompts.update(server)
        else void server.connect().catch(() => undefined)
      })
  }

  /** Ends them all. What those offer that are starting for the first time is kept first, or the next start would find it out anew. */
  async close(): Promise<void> {
    const all = this.list()
    for (const { source } of this.#servers.values()) source.dispose()
    for (const { name } of all) this.#prompts.remove(name)
    this.#servers.clear()
    await Promise.all(all.map((server) => server.settle(KEPT_WITHIN_MS)))
    await Promise.all([...all, ...this.#leaving].map((server) => server.close()))
  }
}

/** Resolves once every one of the servers was heard of that nothing was known about, or `withinMs` are over. Never rejects. */
export async function untilHeard(
  servers: readonly McpServer[],
  { clock, signal, withinMs }: { readonly clock: Clock; readonly signal: AbortSignal; readonly withinMs: number },
): Promise<void> {
  const waits = servers.map(async (server) => {
    await server.load()
    if (server.listing) return void server.connect().catch(() => undefined)
    await server.connect(signal).catch(() => undefined)
  })
  const over = new AbortController()
  const late = clock.sleep(withinMs, AbortSignal.any([over.signal, signal])).catch(() => undefined)
  await Promise.race([Promise.allSettled(waits), late])
  over.abort()
}
