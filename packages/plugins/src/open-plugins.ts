// The plugins of a home: those that a person agreed to become extensions, servers and hooks; nothing of the others is loaded.
import { join } from 'node:path'
import { errorLine, type JsonObject } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { actingOf, changed, processOf } from './agree.js'
import { registerApart } from './extension/apart.js'
import { loadInside } from './extension/inside.js'
import { promptCommand } from './extension/prompts.js'
import { pluginFolders } from './found.js'
import type { PluginComponents, PluginHooks } from './package/components.js'
import { digestOf } from './package/digest.js'
import { shortened } from './package/shortened.js'
import type { PluginHost } from './plugin-host.js'
import type { PluginProcess } from './process/plugin-process.js'
import { type Agreed, type PluginEntry, readState } from './state.js'

/** A plugin that counts, or why it does not. */
export interface LoadedPlugin {
  readonly entry: PluginEntry & { readonly agreed: Agreed }
  readonly extension: Extension
  /** `null` where it runs inside, or has no code. */
  readonly process: PluginProcess | null
  /** Why it was left out after all, in a line: what it registers has the name of something else. `null` where it is set up. */
  readonly leftOut: () => string | null
}

/** A folder with skills of a plugin. */
interface SkillPlace {
  /** Absolute. */
  readonly folder: string
  /** Whether the plugin is enabled and, file by file, what the person agreed to. Never rejects. */
  isAgreed(): Promise<boolean>
}

/** The plugins of a home. */
export interface HomePlugins {
  /** One for each that counts. */
  readonly extensions: readonly Extension[]
  readonly loaded: readonly LoadedPlugin[]
  readonly host: PluginHost
  /** Why others are not loaded, a line each. */
  readonly problems: readonly string[]
  /** What they bring to `mcp_servers`. */
  readonly servers: Readonly<Record<string, JsonObject>>
  /**
   * Starts the processes that the first request of a session would wait for: those that add to the system text or to messages, say which
   * tools there are, or are the memory named `memory`. Waits for nothing; what does not start says so when it is called.
   */
  warmUp(used: { readonly memory: string }): void
  /** Their hook files as they are agreed to now. Never rejects. */
  hooks(): Promise<readonly PluginHooks[]>
  /** Folders with their skills, as they are agreed to now. Absolute. Never rejects. */
  skills(): Promise<readonly { readonly plugin: string; readonly folder: string }[]>
  /** Folders with skills of every plugin that is there, enabled or not, for who holds their programs. Never rejects. */
  skillPlaces(): Promise<readonly SkillPlace[]>
}

/**
 * Reads which plugins the person agreed to, and looks whether they still are what they were then. No process is started, and nothing but one file
 * is read where there are none.
 */
export async function openPlugins(host: PluginHost): Promise<HomePlugins> {
  const problems: string[] = []
  const loaded: LoadedPlugin[] = []
  const wanted = await enabledEntries(host)
  const project = wanted.some((entry) => entry.project !== null) ? await host.project().catch(() => null) : null
  for (const entry of wanted) {
    if (entry.project !== null && entry.project !== project?.folder) continue
    try {
      if (entry.project !== null && !project?.isTrusted)
        throw new Error(
          `Plugin ${entry.name} is not loaded: the project that brings it is not trusted. To trust it: hermes trust add`,
        )
      if (loaded.some((other) => other.entry.name === entry.name))
        throw new Error(`Plugin ${entry.name} is there twice; the one in ${entry.folder} is not loaded.`)
      loaded.push(watched(await load(entry, host)))
    } catch (error) {
      problems.push(shortened(errorLine(error), 500))
    }
  }
  const bring = loaded.map(({ entry }) => entry.agreed.components)
  const servers = Object.assign({}, ...bring.map((components) => components.servers)) as Record<string, JsonObject>
  return {
    ...{ host, loaded, extensions: loaded.map(({ extension }) => extension) },
    problems,
    servers,
    warmUp: (used) => {
      for (const { entry, process } of loaded)
        if (isForFirstRequest(entry.agreed.listing, used)) void process?.listing().catch(() => undefined)
    },
    hooks: async () =>
      (await agreedNow(host, ({ hooks }) => hooks.length > 0)).flatMap(({ agreed }) => agreed.components.hooks),
    skills: async () =>
      (await agreedNow(host, ({ skills }) => skills.length > 0)).map(({ name, folder }) => ({
        plugin: name,
        folder: join(folder, 'skills'),
      })),
    skillPlaces: async () =>
      (await pluginFolders(host)).map((folder) => ({
        folder: join(folder, 'skills'),
        isAgreed: async () => (await agreedNow(host, () => true, folder)).length > 0,
      })),
  }
}

const enabledEntries = async ({ stateFile, isSafe }: PluginHost) =>
  isSafe ? [] : (await readState(stateFile)).filter(({ isEnabled }) => isEnabled)

/** The plugins that bring something and are, file by file, what the person agreed to; with `only`, the one in that folder. */
async function agreedNow(
  host: PluginHost,
  brings: (components: PluginComponents) => boolean,
  only: string | null = null,
): Promise<readonly LoadedPlugin['entry'][]> {
  const entries = (await enabledEntries(host)).filter(
    (entry): entry is LoadedPlugin['entry'] =>
      entry.agreed !== null && brings(entry.agreed.components) && (only === null || entry.folder === only),
  )
  const project = entries.some((entry) => entry.project !== null) ? await host.project().catch(() => null) : null
  const found = await Promise.all(
    entries.map(async (entry) => {
      const isOurs = entry.project === null || (entry.project === project?.folder && project.isTrusted)
      const digest = isOurs ? await digestOf(entry.folder, entry.agreed.digest).catch(() => null) : null
      return digest?.content === entry.agreed.digest.content ? [entry] : []
    }),
  )
  return found.flat()
}

/** The plugin, which remembers how its setup went. */
function watched(plugin: Omit<LoadedPlugin, 'leftOut'>): LoadedPlugin {
  const { name, setup } = plugin.extension
  let problem: string | null = 'something else has its name'
  const extension: Extension = {
    name,
    setup: (api) => {
      try {
        const undo: unknown = setup(api)
        problem = undo instanceof Promise ? 'its setup is asynchronous' : null
        return undo as ReturnType<typeof setup>
      } catch (error) {
        problem = shortened(errorLine(error), 300)
        throw error
      }
    },
  }
  return { ...plugin, extension, leftOut: () => problem }
}

async function load(entry: PluginEntry, host: PluginHost): Promise<Omit<LoadedPlugin, 'leftOut'>> {
  const { name, folder, agreed } = entry
  if (agreed === null)
    throw new Error(`Plugin ${name} is not loaded: nobody agreed to it. Run: hermes plugins enable ${name}`)
  const digest = await digestOf(folder, agreed.digest).catch((error: unknown) => {
    throw new Error(`Plugin ${name} is not loaded: ${errorLine(error)}. Run: hermes plugins doctor`)
  })
  if (digest.content !== agreed.digest.content) throw changed(name)
  const known = { ...entry, agreed }
  const title = extensionName(name)
  const addPrompts: Extension['setup'] = (api) => {
    for (const prompt of agreed.components.prompts) api.commands.add(promptCommand(prompt))
  }
  const { code, listing } = agreed
  if (code === null) return { entry: known, extension: { name: title, setup: addPrompts }, process: null }
  if (code.runs === 'inside' || listing === null) {
    const inside = { name, module: code.module, folder, version: agreed.digest.content }
    const inner = await loadInside(inside, host).catch((error: unknown) => {
      throw new Error(`Plugin ${name} is not loaded: ${shortened(errorLine(error).replace(/\.$/, ''), 300)}.`)
    })
    const setup: Extension['setup'] = (api) => {
      addPrompts(api)
      return inner.setup(api)
    }
    return { entry: known, extension: { name: title, setup }, process: null }
  }
  const watchers = new Map<string, Set<() => void>>()
  const places = { root: folder, data: join(host.dataDirectory, name) }
  let configKeys: readonly string[] = []
  const process = processOf({ name, agreed, places }, host, {
    onChanged: (source) => {
      for (const notify of watchers.get(source) ?? []) notify()
    },
    configKeys: () => configKeys,
  })
  const setup: Extension['setup'] = (api) => {
    addPrompts(api)
    for (const key of listing.configKeys) api.config.section({ key, schema: ANYTHING })
    configKeys = listing.configKeys
    registerApart(api, {
      ...{ process, listing, acting: actingOf(name, agreed), readsConversation: agreed.capabilities.conversation },
      onChanged: (source, notify) => {
        const all = watchers.get(source) ?? new Set()
        watchers.set(source, all.add(notify))
        return () => void all.delete(notify)
      },
    })
    return () => process.close()
  }
  return { entry: known, extension: { name: title, setup }, process }
}

/** Points that a first request comes to before it is sent. */
const FIRST: readonly string[] = ['session-start', 'run-start', 'input', 'model-request', 'before-model-call']

function isForFirstRequest(listing: Agreed['listing'], used: { readonly memory: string }): boolean {
  if (listing === null) return false
  const { sections, tools, hooks, memories } = listing
  return (
    sections.length > 0 ||
    memories.includes(used.memory) ||
    tools.some(({ hasAvailable }) => hasAvailable) ||
    hooks.some(({ point }) => FIRST.includes(point))
  )
}

/** Its own process checks the value. */
const ANYTHING = { '~standard': { version: 1, vendor: 'hermes', validate: (value: unknown) => ({ value }) } } as const

/** Names of extensions have no dots. */
const extensionName = (name: string) => `plugin-${name.replaceAll('.', '-')}`.slice(0, 64)
