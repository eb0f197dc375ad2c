// A plugin that runs apart as an extension: what it registered when the person agreed, done by its process.
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import type {
  Command,
  CommandContext,
  ExtensionApi,
  Finding,
  HookEvent,
  HookHandlers,
  JobRun,
  MemoryRequest,
  Route,
  SubcommandContext,
} from '@hermes/contracts/extension'
import type { MemoryProvider } from '@hermes/contracts/memory'
import type { ActingPlugin } from '@hermes/contracts/policy'
import type { Tool, ToolContext, ToolResult } from '@hermes/contracts/tool'
import { keyOf, type ListedTool, type PluginListing } from '../listing.js'
import type { HostCall } from '../process/host-calls.js'
import type { PluginProcess } from '../process/plugin-process.js'
import { eventData, placeOf } from './event-data.js'

/** What an extension of others is made from. */
interface ApartPlugin {
  readonly process: PluginProcess
  readonly listing: PluginListing
  /** As the policy knows it. */
  readonly acting: ActingPlugin
  /** Whether it reads what is said in sessions. */
  readonly readsConversation: boolean
  /** Called when a source of tools says that they have changed, until what it gives back is called. */
  onChanged(source: string, changed: () => void): () => void
}

/** In milliseconds. */
const LIMITS = {
  tool: 600_000,
  hook: 30_000,
  look: 20_000,
  command: 300_000,
  route: 60_000,
  memory: 60_000,
  job: 3_600_000,
}

/** Registers all that a listing has. */
export function registerApart(api: ExtensionApi, plugin: ApartPlugin): void {
  const { listing } = plugin
  for (const tool of listing.tools)
    api.tools.add(remoteTool(plugin, tool), tool.deferred === undefined ? {} : { deferred: tool.deferred })
  for (const { name, ...source } of listing.sources)
    api.tools.addSource({
      ...source,
      name,
      list: async (signal) => {
        const tools = await plugin.process.call(keyOf('source', name), null, { signal, timeoutMs: LIMITS.look })
        return listOf(tools, isListedTool, `its source ${name}`).map((tool) => remoteTool(plugin, tool, name))
      },
      onChange: (changed) => plugin.onChanged(name, changed),
    })
  for (const hook of listing.hooks) addHook(api, plugin, hook)
  for (const section of listing.sections)
    api.prompt.section({
      ...section,
      render: async (context) =>
        ((await plugin.process.call(keyOf('section', section.name), context, { timeoutMs: LIMITS.look })) as
          | string
          | null) ?? undefined,
    })
  for (const name of listing.checks)
    api.doctor.check({
      name,
      run: async ({ isOffline, signal }) =>
        listOf(
          await plugin.process.call(keyOf('check', name), { isOffline }, { signal, timeoutMs: LIMITS.look }),
          isFinding,
          `its check ${name}`,
        ),
    })
  for (const command of listing.commands) api.commands.add(remoteCommand(plugin, command))
  for (const subcommand of listing.subcommands)
    api.subcommands.add({
      ...subcommand,
      load: async () => (options, context) => runSubcommand(plugin, subcommand.name, options, context),
    })
  for (const route of listing.routes) api.routes.add(remoteRoute(plugin, route))
  for (const kind of listing.jobs)
    api.jobs.handle({
      kind,
      run: async (job: JobRun, { signal }) =>
        void (await plugin.process.call(keyOf('job', kind), job, { signal, timeoutMs: LIMITS.job })),
    })
  for (const name of listing.memories)
    api.factories.add('memory', name, (request) => remoteMemory(plugin, name, request))
  for (const { name, provider } of listing.providers) api.factories.add('model-provider', name, () => provider)
}

/** What a process sent for a list; it is code of others. @throws HermesError `plugins.bad_answer` */
function listOf<Item>(value: unknown, isItem: (item: unknown) => item is Item, from: string): readonly Item[] {
  if (Array.isArray(value) && value.every(isItem)) return value
  throw new HermesError(`A plugin does not answer as it should: ${from} gave no list of the right form.`, {
    code: 'plugins.bad_answer',
  })
}

const isListedTool = (value: unknown): value is ListedTool =>
  isJsonObject(value) &&
  typeof value['name'] === 'string' &&
  typeof value['description'] === 'string' &&
  isJsonObject(value['parameters'])

const isFinding = (value: unknown): value is Finding =>
  isJsonObject(value) && /^(?:ok|warn|fail)$/.test(String(value['level'])) && typeof value['text'] === 'string'

const isWord = (value: unknown): value is string =>
  typeof value === 'string' || (isJsonObject(value) && typeof value['value'] === 'string')

function remoteTool(plugin: ApartPlugin, listed: ListedTool, source?: string): Tool {
  const { deferred: _, hasAvailable, ...data } = listed
  const { name } = data
  return {
    ...data,
    plugin: plugin.acting,
    ...(hasAvailable && source === undefined
      ? {
          available: async () =>
            (await plugin.process.call(keyOf('available', name), null, { timeoutMs: LIMITS.look })) === true,
        }
      : {}),
    execute: async (args, context) => {
      let isOutside = false
      const host = {
        ...hostOf(context),
        onOutside: () => {
          isOutside = true
        },
      }
      const key = source === undefined ? keyOf('tool', name) : keyOf('source-tool', source)
      const call = {
        args,
        place: placeOf(context, context.isTainted ?? false),
        ...(source === undefined ? {} : { tool: name }),
      }
      const result = await plugin.process.call(key, call, { signal: context.signal, host, timeoutMs: LIMITS.tool })
      return resultOf(result as unknown as ToolResult | null, { isOutside, plugin: plugin.acting.name })
    },
  }
}

/** Where its text came from is not a plugin's own to say. */
function resultOf(
  result: ToolResult | null,
  { isOutside, plugin }: { readonly isOutside: boolean; readonly plugin: string },
): ToolResult {
  if (result === null || (typeof result !== 'string' && typeof result !== 'object'))
    return { text: 'The tool gave no result.', isError: true }
  const sources = [{ type: 'plugin', name: `the plugin ${plugin}` }] as const
  if (typeof result === 'string') return isOutside ? { text: result, external: true, sources } : result
  return isOutside || result.external ? { ...result, external: true, sources } : result
}

function hostOf(context: ToolContext): HostCall {
  let environment: ToolContext['environment'] | null = null
  try {
    environment = context.environment
  } catch {
    // This agent has none.
  }
  return {
    environment,
    permit: (action, options) => context.permit(action, options),
    ask: (question) => context.ask(question),
    progress: (text, about) => context.progress(text, about),
    ...(context.notify ? { notify: (notice) => context.notify!(notice) } : {}),
  }
}

function addHook(
  api: ExtensionApi,
  plugin: ApartPlugin,
  { key, point, ...options }: PluginListing['hooks'][number],
): void {
  const handler = async (event: HookEvent): Promise<unknown> => {
    const { data, runId } = eventData(point, event, plugin.readsConversation)
    const host: HostCall = {
      environment: event.environment ?? null,
      ...(typeof event.permit === 'function'
        ? {
            permit: (action, requested) =>
              event.permit(action, { ...requested, origin: 'plugin', plugin: plugin.acting }),
          }
        : {}),
      ...(typeof event.notice === 'function' ? { notice: (text, level) => event.notice(text, level) } : {}),
    }
    const place = { ...placeOf(event, event.session?.isTainted ?? false), runId }
    const timeoutMs = options.timeoutMs ?? LIMITS.hook
    const answer = await plugin.process.call(
      keyOf('hook', key),
      { place, data },
      { signal: event.signal, host, timeoutMs },
    )
    return answer ?? undefined
  }
  api.hooks.on(point, handler as HookHandlers[typeof point], options)
}

function remoteCommand({ process }: ApartPlugin, { hasComplete, ...data }: PluginListing['commands'][number]): Command {
  const contextOf = ({ caller, cwd, session }: CommandContext) => ({
    caller,
    cwd,
    session: session && {
      ...{ id: session.id, cwd: session.cwd, model: session.model, provider: session.provider, isBusy: session.isBusy },
    },
  })
  return {
    ...data,
    run: async (args, context) => {
      const { signal } = context
      const host: HostCall = { notice: (text) => context.notice(text) }
      const call = { args, ...contextOf(context) }
      const result = await process.call(keyOf('command', data.name), call, { signal, host, timeoutMs: LIMITS.command })
      return result as unknown as Awaited<ReturnType<Command['run']>>
    },
    ...(hasComplete
      ? {
          complete: async (words: readonly string[], context: CommandContext) =>
            listOf(
              await process.call(
                keyOf('complete', data.name),
                { words, ...contextOf(context) },
                { timeoutMs: LIMITS.look },
              ),
              isWord,
              `/${data.name}`,
            ),
        }
      : {}),
  }
}

async function runSubcommand(
  { process }: ApartPlugin,
  name: string,
  options: JsonObject,
  { words, home, cwd, signal, write, warn }: SubcommandContext,
): Promise<number | undefined> {
  const host: HostCall = { write, warn }
  const call = { options, words, home, cwd }
  const code = await process.call(keyOf('subcommand', name), call, { signal, host, timeoutMs: LIMITS.job })
  return typeof code === 'number' ? code : undefined
}

function remoteRoute({ process }: ApartPlugin, { method, path, scope }: PluginListing['routes'][number]): Route {
  return {
    ...{ method, path, scope },
    handle: async (request, parameters) => {
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer()).toString('base64')
      // The key of the API is Hermes' own.
      const passed = [...request.headers].filter(
        ([name]) => scope === 'open' || !/^(?:authorization|cookie)$/.test(name),
      )
      const call = { url: request.url, method, headers: passed, body, parameters }
      const answer = await process.call(keyOf('route', `${method} ${path}`), call, {
        signal: request.signal,
        timeoutMs: LIMITS.route,
      })
      const {
        status,
        headers,
        body: bytes,
      } = answer as unknown as { status: number; headers: [string, string][]; body: string }
      return new Response(status === 204 || status === 304 ? null : Buffer.from(bytes, 'base64'), { status, headers })
    },
  }
}

function remoteMemory({ process }: ApartPlugin, name: string, { settings, userId }: MemoryRequest): MemoryProvider {
  let opened: Promise<unknown> | null = null
  const key = keyOf('memory', name)
  const ask = async (op: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> => {
    const timeoutMs = LIMITS.memory
    opened ??= process.call(key, { op: 'open', request: { settings, userId } }, { signal, timeoutMs })
    try {
      return await process.call(key, { op, id: await opened, params }, { signal, timeoutMs })
    } catch (error) {
      // Its process may be another one by now.
      opened = null
      if (signal.aborted) throw error
      const message = (error as Error).message
      throw HermesError.isInstance(error) && error.code.startsWith('memory.')
        ? error
        : new HermesError(message, { code: 'memory.provider_unavailable', retryable: true, cause: error })
    }
  }
  return {
    name,
    recall: async (query, { limit, signal }) =>
      (await ask('recall', [query, { limit }], signal)) as Awaited<ReturnType<MemoryProvider['recall']>>,
    keep: async (turn, { signal }) => void (await ask('keep', [turn], signal)),
    store: async (text, { signal }) => void (await ask('store', [text], signal)),
    forget: async (id, { signal }) => (await ask('forget', [id], signal)) === true,
    check: async ({ signal }) => void (await ask('check', [], signal)),
    close: async () => undefined,
  }
}
