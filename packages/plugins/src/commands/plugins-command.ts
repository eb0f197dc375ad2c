// `/plugins`, which `hermes plugins` is too.
import { mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandResult } from '@hermes/contracts/extension'
import { consentLines, goesBeyond, readAgreed } from '../agree.js'
import { type FoundPlugin, findPlugins } from '../found.js'
import { fetchPackage, type StagedPlugin } from '../install/fetch-package.js'
import { createPlugin } from '../install/template.js'
import type { LoadedPlugin } from '../open-plugins.js'
import { type PluginManifest, readManifest } from '../package/manifest.js'
import { shortened } from '../package/shortened.js'
import type { PluginHost } from '../plugin-host.js'
import { type Agreed, type PluginEntry, readState, writeEntry } from '../state.js'
import { faultLines, pluginFindings } from './findings.js'
import { VERBS } from './verbs.js'

interface Parts {
  readonly host: PluginHost
  readonly loaded: readonly LoadedPlugin[]
  readonly problems: readonly string[]
}

/** Does what the words say. */
export async function runPluginsCommand(
  args: JsonObject,
  context: CommandContext,
  parts: Parts,
): Promise<CommandResult> {
  const [verb = 'list', ...words] = args['words'] as readonly string[]
  const { host, loaded } = parts
  const only = () => oneWord(verb, words)
  switch (verb) {
    case 'list':
      return list(parts)
    case 'install':
      return install(only(), { host, context, isEnabled: args['enable'] === true })
    case 'update':
      return update(words, { host, context })
    case 'enable':
      return enable(await foundNamed(only(), host), host)
    case 'disable':
      return disable(only(), host)
    case 'uninstall':
      return uninstall(only(), host)
    case 'create': {
      const folder = resolve(context.cwd, only())
      await createPlugin(folder, typeof args['kind'] === 'string' ? args['kind'] : 'tool')
      return text([`Made ${folder}. Try it: hermes plugins validate ${folder}`])
    }
    case 'validate':
      return validate(resolve(context.cwd, words[0] ?? '.'), host)
    case 'doctor':
      return { type: 'findings', findings: await pluginFindings(parts) }
    case 'reload':
      await Promise.all(loaded.map(({ process }) => process?.restart()))
      return text([
        'Processes of plugins begin anew. What was enabled or changed meanwhile counts when Hermes is started again.',
      ])
    default:
      throw usage(`There is no "/plugins ${shortened(verb, 40)}". It can be ${VERBS.join(', ')}.`)
  }
}

function oneWord(verb: string, [word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word
  throw usage(
    `Use: hermes plugins ${verb} ${verb === 'install' ? 'FOLDER|TARBALL|PACKAGE|ADDRESS' : verb === 'create' ? 'FOLDER' : 'NAME'}`,
  )
}

async function list({ host, problems }: Parts): Promise<CommandResult> {
  const [found, entries] = await Promise.all([findPlugins(host), readState(host.stateFile)])
  const rows = found.map(({ folder, project, manifest }) => {
    const entry = entries.find((one) => one.folder === folder)
    const isBroken = typeof manifest === 'string'
    const name = isBroken ? (entry?.name ?? folder) : manifest.name
    const state = isBroken ? 'broken' : entry?.isEnabled ? 'enabled' : 'off'
    const about = isBroken ? manifest : shortened(manifest.description)
    const version = isBroken ? '' : (manifest.version ?? '')
    return {
      cells: [shortened(name, 64), state, shortened(version, 20), about],
      isDim: state === 'off',
      data: { name, state, version, folder, project, source: entry?.source ?? null },
    }
  })
  const table = { type: 'table', rows, empty: 'No plugin yet. Install one: hermes plugins install SOURCE' } as const
  const lines = [...problems, ...faultLines(entries)]
  return lines.length === 0 ? table : [table, { type: 'text', text: lines.join('\n'), isProblem: true }]
}

interface Installing {
  readonly host: PluginHost
  readonly context: CommandContext
}

async function install(
  from: string,
  { host, context, isEnabled }: Installing & { readonly isEnabled: boolean },
): Promise<CommandResult> {
  const staged = await fetchPackage(from, { host, cwd: context.cwd, signal: context.signal })
  try {
    const manifest = await manifestOf(staged.folder)
    const folder = join(host.directory, manifest.name)
    const known = (await readState(host.stateFile)).find((entry) => entry.folder === folder)
    if (known) throw usage(`There is a plugin ${manifest.name} already. Use: hermes plugins update ${manifest.name}`)
    await put(staged, folder)
    const entry: PluginEntry = {
      ...named(manifest),
      folder,
      project: null,
      source: staged.source,
      isEnabled: false,
      agreed: null,
    }
    await writeEntry(host.stateFile, folder, entry)
    const done = `Installed ${manifest.name}${manifest.version === null ? '' : ` ${manifest.version}`}.`
    if (!isEnabled)
      return text([
        done,
        `It does nothing yet. See what it brings: hermes plugins validate ${folder}`,
        `To use it: hermes plugins enable ${manifest.name}`,
      ])
    return await enable({ folder, project: null, isInstalled: true, manifest }, host, [done])
  } finally {
    await staged.discard()
  }
}

const named = ({ name, version }: PluginManifest) => ({ name, version })

async function put({ folder: from }: StagedPlugin, folder: string): Promise<void> {
  const old = `${folder}.old`
  await rm(old, { recursive: true, force: true })
  const hadOne = await rename(folder, old).then(
    () => true,
    () => false,
  )
  try {
    await rename(from, folder)
  } catch (error) {
    if (hadOne) await rename(old, folder)
    throw error
  }
  await rm(old, { recursive: true, force: true })
}

async function manifestOf(folder: string): Promise<PluginManifest> {
  const manifest = await readManifest(folder)
  if (manifest) return manifest
  throw new HermesError(
    `${folder} is no plugin: it has no plugin.json, .plugin/plugin.json, or "hermes" in its package.json.`,
    { code: 'plugins.no_manifest' },
  )
}

async function update(words: readonly string[], { host, context }: Installing): Promise<CommandResult> {
  const all = (await readState(host.stateFile)).filter(
    ({ source, name }) => source !== null && (words.length === 0 || words.includes(name)),
  )
  if (all.length === 0)
    throw usage(
      words.length === 0 ? 'No plugin was installed.' : `No plugin ${shortened(words.join(', '))} was installed.`,
    )
  const lines: string[] = []
  for (const entry of all) lines.push(...(await updateOne(entry, { host, context })))
  return text(lines)
}

async function updateOne(entry: PluginEntry, { host, context }: Installing): Promise<readonly string[]> {
  // The name of a package is none of a folder that lies where the person is now.
  const staged = await fetchPackage(entry.source!.from, { host, cwd: '/', signal: context.signal })
  try {
    const manifest = await manifestOf(staged.folder)
    if (manifest.name !== entry.name)
      throw new HermesError(`What ${entry.source!.from} holds now is called ${manifest.name}, not ${entry.name}.`, {
        code: 'plugins.other_name',
      })
    await put(staged, entry.folder)
    const { fault: _before, ...kept } = entry
    const fresh = { ...kept, ...named(manifest), source: staged.source }
    const done = `${entry.name}: ${entry.version ?? 'unknown'} → ${manifest.version ?? 'unknown'}.`
    await writeEntry(host.stateFile, entry.folder, { ...fresh, isEnabled: false })
    if (!entry.isEnabled) return [done]
    const starts = (draft: Agreed) => !goesBeyond(draft, entry.agreed)
    const agreed = await readAgreed(manifest, placesOf(fresh, host), { host, starts })
    if (goesBeyond(agreed, entry.agreed))
      return [
        done,
        'It is not what you agreed to, so it is off. What it brings now:',
        ...consentLines(agreed).map((line) => `  ${line}`),
        `To agree: hermes plugins enable ${entry.name}`,
      ]
    await writeEntry(host.stateFile, entry.folder, { ...fresh, isEnabled: true, agreed })
    return [done, 'It counts from the next start of Hermes on; for a gateway that runs: hermes gateway reload']
  } finally {
    await staged.discard()
  }
}

const placesOf = ({ folder, name }: { readonly folder: string; readonly name: string }, host: PluginHost) => ({
  root: folder,
  data: join(host.dataDirectory, name),
})

async function enable(found: FoundPlugin, host: PluginHost, before: readonly string[] = []): Promise<CommandResult> {
  const { folder, project, manifest } = found
  if (typeof manifest === 'string') throw new HermesError(manifest, { code: 'plugins.bad_manifest' })
  if (project !== null && !(await host.project()).isTrusted)
    throw new HermesError(`${project} is not trusted, so its plugins are not used. To trust it: hermes trust add`, {
      code: 'plugins.not_trusted',
    })
  const { name } = manifest
  const entries = await readState(host.stateFile)
  const other = entries.find(
    (entry) => entry.name === name && entry.folder !== folder && entry.isEnabled && entry.project === project,
  )
  if (other)
    throw usage(`The plugin ${name} of ${other.folder} is enabled. Disable it first: hermes plugins disable ${name}`)
  const places = placesOf({ folder, name }, host)
  await mkdir(places.data, { recursive: true, mode: 0o700 })
  const agreed = await readAgreed(manifest, places, { host, starts: () => true, loadsInside: true })
  const { fault: _before, ...entry } = entries.find((one) => one.folder === folder) ?? {}
  await writeEntry(host.stateFile, folder, {
    source: null,
    ...entry,
    ...named(manifest),
    folder,
    project,
    isEnabled: true,
    agreed,
  })
  for (const { source } of agreed.components.hooks) await host.agreeToHooks(source)
  const lines = consentLines(agreed).map((line) => `  ${line}`)
  return text([
    ...before,
    `Enabled ${name}, as it is now:`,
    ...lines,
    ...agreed.components.problems,
    'It counts from the next start of Hermes on.',
  ])
}

async function disable(name: string, host: PluginHost): Promise<CommandResult> {
  const entry = await entryNamed(name, host)
  await writeEntry(host.stateFile, entry.folder, { ...entry, isEnabled: false })
  return text([`Disabled ${entry.name}. It counts from the next start of Hermes on.`])
}

async function uninstall(name: string, host: PluginHost): Promise<CommandResult> {
  const entry = await entryNamed(name, host)
  await writeEntry(host.stateFile, entry.folder, null)
  if (entry.source === null) return text([`${entry.name} is off. Its files stay where they are: ${entry.folder}`])
  await rm(entry.folder, { recursive: true, force: true })
  await rm(join(host.dataDirectory, entry.name), { recursive: true, force: true })
  return text([`Uninstalled ${entry.name}, with its data.`])
}

async function validate(folder: string, host: PluginHost): Promise<CommandResult> {
  const manifest = await manifestOf(folder)
  const places = placesOf({ folder, name: manifest.name }, host)
  // Nobody agreed to its code yet: it is set up behind walls, or not at all.
  const agreed = await readAgreed(manifest, places, { host, starts: ({ unwalled }) => unwalled === null })
  const isLeft = agreed.code?.runs === 'apart' && agreed.unwalled !== null
  const left = isLeft
    ? [`Its code was not started, for nothing would hold it. To set it up: hermes plugins enable ${manifest.name}`]
    : []
  const notes = [...agreed.components.problems, ...(agreed.listing?.problems ?? []), ...left]
  const head = `${manifest.name}${manifest.version === null ? '' : ` ${manifest.version}`} is a plugin.`
  return text([head, ...consentLines(agreed).map((line) => `  ${line}`), ...notes])
}

async function entryNamed(name: string, host: PluginHost): Promise<PluginEntry> {
  const entries = await readState(host.stateFile)
  const found = entries.find((entry) => entry.name === name)
  if (found) return found
  throw unknown(
    name,
    entries.map((entry) => entry.name),
  )
}

async function foundNamed(name: string, host: PluginHost): Promise<FoundPlugin> {
  const found = await findPlugins(host)
  const one = found.find(({ manifest, folder }) =>
    typeof manifest === 'string' ? folder.endsWith(`/${name}`) : manifest.name === name,
  )
  if (one) return one
  throw unknown(
    name,
    found.flatMap(({ manifest }) => (typeof manifest === 'string' ? [] : [manifest.name])),
  )
}

function unknown(name: string, known: readonly string[]): HermesError {
  const there = known.length === 0 ? 'There is none yet.' : `There are ${known.join(', ')}.`
  return new HermesError(`There is no plugin "${shortened(name, 60)}". ${there}`, { code: 'plugins.unknown' })
}

const usage = (message: string) => new HermesError(message, { code: 'commands.usage' })
const text = (lines: readonly string[]) => ({ type: 'text', text: lines.join('\n') }) as const
