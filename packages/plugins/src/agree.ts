// What a person says yes to: everything a plugin brings, read and set up once, bound by the hash of its files.
import { pathToFileURL } from 'node:url'
import { errorLine, HermesError } from '@hermes/contracts'
import type { ActingPlugin } from '@hermes/contracts/policy'
import { loadInside } from './extension/inside.js'
import type { PluginListing } from './listing.js'
import { type PluginComponents, readComponents } from './package/components.js'
import { digestOf } from './package/digest.js'
import { insidePath } from './package/inside-path.js'
import type { PluginManifest } from './package/manifest.js'
import type { PluginPlaces } from './package/reader.js'
import { inOneLine, shortened } from './package/shortened.js'
import type { PluginHost } from './plugin-host.js'
import { PluginProcess } from './process/plugin-process.js'
import { startProcess } from './process/start-process.js'
import { type Agreed, noteWish, type PluginEntry } from './state.js'

/** Points whose events hold what is said in a session. */
const SPOKEN_POINTS: readonly string[] = [
  'input',
  'answer',
  'model-request',
  'before-model-call',
  'after-model-call',
  'run-end',
  'compaction',
  'stream-delta',
  'stream-end',
  'interim-message',
  'chat-message',
]

interface Reading {
  readonly host: PluginHost
  readonly starts: (draft: Agreed) => boolean
  readonly loadsInside?: boolean
}

/**
 * Reads a plugin as it is now, and sets it up in its process where `starts` says so of what was read: before that none of its code has run.
 * What runs inside Hermes is loaded only where `loadsInside` says that somebody agreed to it.
 * @throws HermesError `plugins.…` with one line for what stands against it.
 */
export async function readAgreed(
  manifest: PluginManifest,
  places: PluginPlaces,
  { host, starts, loadsInside = false }: Reading,
): Promise<Agreed> {
  const { name, ours } = manifest
  try {
    const digest = await digestOf(places.root)
    const components = await readComponents(manifest, places)
    const module = ours.extension === undefined ? null : await insidePath(places.root, ours.extension)
    if (ours.extension !== undefined && module === null)
      throw new HermesError(`its extension ${shortened(ours.extension)} is not there`, { code: 'plugins.bad_manifest' })
    const code = module === null ? null : { module, runs: ours.runs }
    const unwalled = code?.runs === 'apart' ? await host.isolationProblem() : null
    const draft: Agreed = { digest, capabilities: ours.capabilities, code, listing: null, components, unwalled }
    if (code?.runs === 'inside' && loadsInside)
      await loadInside({ name, module: code.module, folder: places.root, version: digest.content }, host)
    if (code?.runs !== 'apart' || !starts(draft)) return draft
    const listing = await listingOf({ name, agreed: draft, places }, host)
    requireDeclared(listing, ours.capabilities)
    return { ...draft, listing }
  } catch (error) {
    const line = errorLine(error)
    const text = line.startsWith('Plugin ') ? line : `Plugin ${name}: ${shortened(line.replace(/\.$/, ''), 500)}.`
    throw new HermesError(text, { code: HermesError.isInstance(error) ? error.code : 'plugins.failed', cause: error })
  }
}

/** A plugin with what was agreed about it. */
interface AgreedPlugin {
  readonly name: string
  readonly agreed: Agreed
  readonly places: PluginPlaces
}

interface ProcessWays {
  readonly onChanged?: (source: string) => void
  /** Keys of config.yaml that are this plugin's by now: one that belongs to another part is not told to it. Default: none. */
  readonly configKeys?: () => readonly string[]
}

/** The process of a plugin, not started yet. It refuses to start once a file is another one, or the isolation it was agreed to in is gone. */
export function processOf(
  { name, agreed, places }: AgreedPlugin,
  host: PluginHost,
  { onChanged, configKeys }: ProcessWays = {},
): PluginProcess {
  const { capabilities, listing, code, digest } = agreed
  let isNoted = false
  return new PluginProcess({
    ...{ name, clock: host.clock, logger: host.logger },
    ...(onChanged ? { onChanged } : {}),
    ...(host.limits ? { limits: host.limits } : {}),
    permit: (action) => host.permit(action, actingOf(name, agreed)),
    refused: (error) => {
      if (isNoted || !HermesError.isInstance(error) || error.details['rule'] !== 'plugin-capability') return
      isNoted = true
      const what = shortened(errorLine(error).replace(/^Not permitted \([^)]*\): /, ''), 300)
      noteWish(host.stateFile, places.root, { error: what, atMs: host.clock.now() }).catch(() => undefined)
    },
    fetchTo: (address) => host.fetchTo(address),
    verify: async () => {
      if ((await digestOf(places.root, digest)).content !== digest.content) throw changed(name)
      const problem = (agreed.unwalled ?? null) === null ? await host.isolationProblem() : null
      if (problem !== null) throw notIsolated(name, problem)
    },
    start: () => startProcess({ name, root: places.root, data: places.data, capabilities }, host),
    message: () => ({
      module: pathToFileURL(code!.module).href,
      data: places.data,
      secrets: Object.fromEntries(
        capabilities.secrets.flatMap((variable) => {
          const value = listing === null ? undefined : host.secret(variable)
          return value === undefined ? [] : [[variable, value]]
        }),
      ),
      config: Object.fromEntries(
        (configKeys?.() ?? []).flatMap((key) => {
          const value = host.config(key)
          return value === undefined ? [] : [[key, value]]
        }),
      ),
    }),
  })
}

/** A plugin as the policy knows it. */
export function actingOf(name: string, { capabilities: { exec, network } }: Agreed): ActingPlugin {
  return { name, exec, network }
}

export const changed = (name: string) =>
  new HermesError(
    `Plugin ${name} is not loaded: its files have changed since you agreed to it. Look at it, then: hermes plugins enable ${name}`,
    { code: 'plugins.changed', details: { plugin: name } },
  )

const notIsolated = (name: string, problem: string) =>
  new HermesError(
    `Plugin ${name} is not started: you agreed to it while it was isolated, and now it cannot be (${problem}). To let it do whatever you can: hermes plugins enable ${name}`,
    { code: 'plugins.not_isolated', details: { plugin: name } },
  )

/** Set up without keys, only to see what it registers. */
async function listingOf(plugin: AgreedPlugin, host: PluginHost): Promise<PluginListing> {
  const process = processOf(plugin, host)
  try {
    return await process.listing()
  } finally {
    await process.close()
  }
}

function requireDeclared(listing: PluginListing, { conversation, secrets }: Agreed['capabilities']): void {
  const point = listing.hooks.find((hook) => SPOKEN_POINTS.includes(hook.point))?.point
  const wants = point !== undefined ? `a hook at ${point}` : listing.memories.length > 0 ? 'a memory' : null
  if (!conversation && wants !== null)
    throw new HermesError(`${wants} is told what is said, and its manifest does not declare "conversation"`, {
      code: 'plugins.undeclared',
    })
  const missing = listing.tools.flatMap(({ requires = [] }) => requires).find((name) => !secrets.includes(name))
  if (missing !== undefined)
    throw new HermesError(`it requires ${shortened(missing, 60)}, which its manifest does not declare in "secrets"`, {
      code: 'plugins.undeclared',
    })
}

/** What a person agrees to with a plugin, a line each. */
export function consentLines({ code, capabilities, components, listing, unwalled }: Agreed): readonly string[] {
  const { network, exec, secrets, conversation } = capabilities
  const isWalled = code?.runs === 'apart' && unwalled === null
  const lines = [
    ...(code?.runs === 'inside' ? ['Its code runs inside Hermes and can do whatever you can.'] : []),
    ...(unwalled === null ? [] : [unwalledLine(unwalled)]),
    ...(isWalled ? ['Its code runs in a process of its own, without your files and keys.'] : []),
    ...(network === false ? [] : [`It reaches ${network === true ? 'any host of the network' : network.join(', ')}.`]),
    ...(exec ? ['It runs commands, which the policy is asked about.'] : []),
    ...(secrets.length > 0 ? [`It gets ${secrets.join(', ')}.`] : []),
    ...(conversation ? ['It reads what is said in your sessions.'] : []),
    ...serverLines(components),
    ...components.hooks
      .flatMap(({ commands }) => commands)
      .map((command) => `It runs ${inOneLine(command)} at events, which can do whatever you can.`),
  ]
  return [...lines, ...broughtLines(components, listing)]
}

/** Node's permissions are no wall against code that means harm. */
export const unwalledLine = (problem: string) =>
  `Its code can do whatever you can: it is not isolated (${problem}), and Node's permissions hold back neither the network nor signals to other programs.`

function serverLines({ servers }: PluginComponents): readonly string[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const { command, args, url } = server
    const names = new Set([...JSON.stringify(server).matchAll(VARIABLE)].map(([, variable]) => variable!))
    return [
      url === undefined
        ? `Its MCP server ${name} runs ${inOneLine([command, ...((args as string[] | undefined) ?? [])].join(' '))}, which can do whatever you can.`
        : `Its MCP server ${name} is at ${inOneLine(String(url))}.`,
      ...(names.size === 0 ? [] : [`Its MCP server ${name} gets ${[...names].join(', ')}.`]),
    ]
  })
}

/** A variable of `.env` as settings of servers name it. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)\}/g

function broughtLines({ prompts, skills }: PluginComponents, listing: PluginListing | null): readonly string[] {
  const named = (kind: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${kind}: ${shortened(names.join(', '), 300)}`]
  return [
    ...named(
      'tools',
      [...(listing?.tools ?? []), ...(listing?.sources ?? [])].map(({ name }) => name),
    ),
    ...named(
      'commands',
      [...(listing?.commands ?? []), ...prompts].map(({ name }) => `/${name}`),
    ),
    ...named('hooks', [...new Set((listing?.hooks ?? []).map(({ point }) => point))]),
    ...named('memory providers', listing?.memories ?? []),
    ...named('keys of config.yaml', listing?.configKeys ?? []),
    ...named(
      'model providers',
      (listing?.providers ?? []).map(({ name }) => name),
    ),
    ...named('skills', skills),
  ]
}

/**
 * Whether what is agreed to now goes beyond what was agreed to before. Commands at events run as the person, so other files beside them are
 * looked at again.
 */
export function goesBeyond(now: Agreed, before: PluginEntry['agreed']): boolean {
  if (before === null) return true
  if (now.components.hooks.length > 0 && now.digest.content !== before.digest.content) return true
  const rest = (agreed: Agreed) =>
    JSON.stringify([
      agreed.capabilities,
      agreed.code?.runs ?? null,
      (agreed.unwalled ?? null) === null,
      agreed.components.servers,
      agreed.components.hooks.map(({ commands }) => commands),
    ])
  return rest(now) !== rest(before)
}
