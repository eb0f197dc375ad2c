// What a plugin brings besides code: servers of tools, hook files, prompts. A broken part is a line, and the others work.
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorLine, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import { insidePath } from './inside-path.js'
import type { PluginManifest } from './manifest.js'
import { NAMESPACE } from './namespace.js'
import { parseJson } from './parse-json.js'
import { expandPlaces, type PluginPlaces, type Reader, readInside } from './reader.js'
import { shortened } from './shortened.js'

/** A prompt that a person calls by name. */
export interface PluginPrompt {
  readonly name: string
  readonly description: string
  /** `$ARGUMENTS` and `$1` stand for what was typed after the name. */
  readonly text: string
}

/** A hook file of the form that Claude Code has. */
export interface PluginHooks {
  /** Absolute. */
  readonly source: string
  /** JSON; paths of the plugin in place. */
  readonly text: string
  /** The commands it names, as a person is shown them. */
  readonly commands: readonly string[]
  /** Variables that its commands get: where the plugin and its data are. */
  readonly variables: Readonly<Record<string, string>>
}

/** What a plugin brings besides code. */
export interface PluginComponents {
  /** As entries of `mcp_servers`, by the name they get. */
  readonly servers: Readonly<Record<string, JsonObject>>
  readonly hooks: readonly PluginHooks[]
  readonly prompts: readonly PluginPrompt[]
  /** Names of its skills. */
  readonly skills: readonly string[]
  readonly problems: readonly string[]
}

const MAX_PROMPTS = 200
const MAX_PROMPT_BYTES = 100_000

/** Reads the components of a plugin. Never rejects. */
export async function readComponents(manifest: PluginManifest, places: PluginPlaces): Promise<PluginComponents> {
  const problems: string[] = [...manifest.problems]
  const reader: Reader = { manifest, places, problems }
  const servers = await orNothing(reader, 'its MCP servers', {}, async () =>
    (await import('./servers.js')).readServers(reader),
  )
  const hooks = await orNothing(reader, 'its hooks', [], () => readHooks(reader))
  const prompts = await orNothing(reader, 'its commands', [], () => readPrompts(reader))
  const skills = await orNothing(reader, 'its skills', [], () => readSkills(reader))
  problems.push(...(await unusedFolders(reader)))
  return { servers, hooks, prompts, skills, problems }
}

async function orNothing<Value>(
  { problems }: Reader,
  what: string,
  nothing: Value,
  read: () => Promise<Value>,
): Promise<Value> {
  try {
    return await read()
  } catch (error) {
    problems.push(`${what} are left out: ${shortened(errorLine(error).replace(/\.$/, ''), 200)}.`)
    return nothing
  }
}

/** Paths in a member of a dot folder's manifest, else those by custom. */
function pathsOf({ manifest }: Reader, member: string, custom: readonly string[]): readonly string[] {
  const value = manifest.raw[member]
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string')
  return custom
}

async function readHooks(reader: Reader): Promise<readonly PluginHooks[]> {
  const { manifest, places } = reader
  const own = manifest.ours.hooks
  const custom =
    manifest.form === 'dot' ? pathsOf(reader, 'hooks', ['./hooks/hooks.json']) : [`./${NAMESPACE}/hooks.json`]
  const inline = manifest.form === 'dot' && isJsonObject(manifest.raw['hooks']) ? manifest.raw['hooks'] : null
  const found: PluginHooks[] = inline
    ? [hooksIn(places, join(places.root, '.plugin', 'plugin.json'), { hooks: inline['hooks'] ?? inline })]
    : []
  for (const path of own === undefined ? (inline ? [] : custom) : [own]) {
    const text = await readInside(reader, path)
    if (text === null) {
      if (own !== undefined) reader.problems.push(`its hooks are left out: there is no ${shortened(path)}.`)
      continue
    }
    found.push(hooksIn(places, join(places.root, path), parseJson(text) as JsonValue))
  }
  return found
}

function hooksIn(places: PluginPlaces, source: string, value: JsonValue): PluginHooks {
  if (!isJsonObject(value)) throw new Error(`${basename(source)} holds no JSON object`)
  const commands: string[] = []
  const fill = (one: JsonValue, key: string): JsonValue => {
    if (typeof one === 'string') return key === 'command' || key === 'args' ? expandPlaces(one, places) : one
    if (Array.isArray(one)) return one.map((item) => fill(item, key))
    if (!isJsonObject(one)) return one
    const filled = Object.fromEntries(Object.entries(one).map(([name, item]) => [name, fill(item!, name)]))
    const { command, args = [] } = filled
    if (typeof command === 'string') commands.push([command, ...(Array.isArray(args) ? args : [])].join(' '))
    return filled
  }
  const { root, data } = places
  const variables = { PLUGIN_ROOT: root, PLUGIN_DATA: data, CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data }
  return { source, text: JSON.stringify(fill(value, '')), commands, variables }
}

async function readPrompts(reader: Reader): Promise<readonly PluginPrompt[]> {
  const { manifest, problems } = reader
  const own = manifest.ours.commands
  const folders =
    own !== undefined
      ? [own]
      : manifest.form === 'dot'
        ? pathsOf(reader, 'commands', ['./commands'])
        : [`./${NAMESPACE}/commands`]
  const prompts: PluginPrompt[] = []
  for (const folder of folders) {
    for (const path of await markdownIn(reader, folder)) {
      const text = await readInside(reader, path)
      const name = promptName(manifest.name, basename(path, '.md'))
      if (text === null || name === null || text.length > MAX_PROMPT_BYTES || prompts.length >= MAX_PROMPTS)
        problems.push(`the command ${shortened(basename(path), 60)} is left out: its name or its text is too long.`)
      else if (prompts.some((other) => other.name === name))
        problems.push(`the command ${name} is there twice; the second one is left out.`)
      else prompts.push({ name, ...(await frontMatter(text)) })
    }
  }
  return prompts
}

async function markdownIn({ places: { root } }: Reader, folder: string): Promise<readonly string[]> {
  const real = await insidePath(root, folder)
  if (real === null) return []
  if (real.endsWith('.md')) return [folder]
  const names = await readdir(real).catch(() => [])
  return names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => join(folder, name))
}

/** `/PLUGIN-NAME`: names of different plugins never meet. */
function promptName(plugin: string, name: string): string | null {
  const own = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const full = `${plugin.replaceAll('.', '-')}-${own}`
  return /^[a-z][a-z0-9-]{0,31}$/.test(full) ? full : null
}

/** The YAML between two lines of dashes says what a prompt is for. */
async function frontMatter(text: string): Promise<Omit<PluginPrompt, 'name'>> {
  const [all, head] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(text) ?? ['', '']
  const body = text.slice(all.length).trim()
  const { default: yaml } = await import('yaml')
  let value: unknown = null
  try {
    value = yaml.parse(head ?? '')
  } catch {
    // A head that is no YAML says nothing.
  }
  const summary = isJsonObject(value) ? value['description'] : null
  const first = body.split('\n').find((line) => line.trim() !== '') ?? ''
  return {
    description: shortened(typeof summary === 'string' ? summary : first.replace(/^#+\s*/, ''), 100),
    text: body,
  }
}

/** What other agents find in a plugin by custom, and nothing here uses. */
async function unusedFolders({ manifest, places: { root } }: Reader): Promise<readonly string[]> {
  if (manifest.form !== 'dot') return []
  const there = await Promise.all(
    ['agents', '.lsp.json', 'output-styles'].map(async (name) =>
      (await insidePath(root, `./${name}`)) === null ? [] : [`${name} of the plugin is not used here.`],
    ),
  )
  return there.flat()
}

async function readSkills(reader: Reader): Promise<readonly string[]> {
  const { root } = reader.places
  const real = await insidePath(root, './skills')
  if (real === null) return []
  const entries = await readdir(real, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async ({ name }) => ((await insidePath(root, `./skills/${name}/SKILL.md`)) === null ? [] : [name])),
  )
  return found.flat().sort()
}
