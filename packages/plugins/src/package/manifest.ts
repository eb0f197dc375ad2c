// The manifest of a plugin: `plugin.json` of the Agent Plugins standard, the dot-folder form, or `hermes` of a package.json.
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorLine, HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { z } from 'zod'
import { insidePath } from './inside-path.js'
import { NAMESPACE } from './namespace.js'
import { parseJson } from './parse-json.js'
import { shortened } from './shortened.js'

const STANDARD = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const MAX_BYTES = 1_000_000

const name = z
  .string()
  .max(64, 'it has more than 64 characters')
  .regex(NAME, 'it may have lower case letters, digits, dashes and dots only')
const path = z.string().startsWith('./', 'a path begins with ./')

/** What is ours in a manifest. */
const ours = z.object({
  /** The module whose default export is the extension. */
  extension: path.optional(),
  /** `inside`: in the process of Hermes, for what cannot run apart. */
  runs: z.enum(['apart', 'inside']).default('apart'),
  /** A hook file as Claude Code has it, and a folder of prompts. */
  hooks: path.optional(),
  commands: path.optional(),
  capabilities: z
    .strictObject({
      /** `true`: any host, by sockets too. A list: these hosts, by `fetch`. */
      network: z.union([z.boolean(), z.array(z.string().min(1))]).default(false),
      exec: z.boolean().default(false),
      /** Names of variables. */
      secrets: z.array(z.string().regex(/^[A-Z_][A-Z0-9_]*$/, 'a secret is named like a variable')).default([]),
      /** Reads what is said in sessions. */
      conversation: z.boolean().default(false),
    })
    .prefault({}),
})

const metadata = {
  version: z.string().optional(),
  description: z.string().optional(),
  homepage: z.string().optional(),
  repository: z.string().optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).optional(),
}
const standard = z.object({
  $schema: z.literal(STANDARD, `it is for another version of the standard; this one reads ${STANDARD}`),
  name,
  ...metadata,
  author: z.strictObject({ name: z.string(), email: z.string(), url: z.string() }).partial().optional(),
  extensions: z.unknown().optional(),
})
const dotFolder = z.looseObject({
  name: name.optional(),
  version: z.string().optional(),
  description: z.string().optional(),
})

/** What a plugin may do beyond its own files; what it has not declared is denied. */
export type Capabilities = z.infer<typeof ours>['capabilities']

/** A plugin as its manifest has it. */
export interface PluginManifest {
  /** `standard`: its components lie where the standard says. `dot`: where its manifest says, or by custom. */
  readonly form: 'standard' | 'dot' | 'package'
  readonly name: string
  readonly version: string | null
  readonly description: string
  readonly ours: z.infer<typeof ours>
  /** The manifest of a dot folder, for the paths in it. */
  readonly raw: JsonObject
  /** What is ignored, one line each. */
  readonly problems: readonly string[]
}

/**
 * Reads the manifest of the plugin in a folder; `null` where there is none.
 * @throws HermesError `plugins.bad_manifest` with one line that names the member.
 */
export async function readManifest(root: string): Promise<PluginManifest | null> {
  const portable = await readJson(root, 'plugin.json')
  if (portable) return readStandard(portable)
  for (const folder of ['.plugin', '.claude-plugin']) {
    const file = `${folder}/plugin.json`
    const value = await readJson(root, file)
    if (value) return readDotFolder(value, root, file)
  }
  const manifest = await readJson(root, 'package.json')
  return manifest && isJsonObject(manifest['hermes']) ? readPackage(manifest, manifest['hermes']) : null
}

function readStandard(value: JsonObject): PluginManifest {
  const read = parse(standard, value, 'plugin.json')
  const known = new Set(Object.keys(standard.shape))
  const problems = Object.keys(value).flatMap((key) =>
    known.has(key) ? [] : [`plugin.json: ${shortened(key)} is no member of the standard; it is ignored.`],
  )
  const { extensions = {} } = read
  if (!isJsonObject(extensions)) problems.push('plugin.json: extensions is no object; it is ignored.')
  const own = isJsonObject(extensions) ? (extensions[NAMESPACE] ?? {}) : {}
  return {
    ...{ form: 'standard', name: read.name, version: read.version ?? null, description: read.description ?? '' },
    ours: parse(ours, own, `plugin.json: extensions.${NAMESPACE}`),
    raw: {},
    problems,
  }
}

function readDotFolder(value: JsonObject, root: string, file: string): PluginManifest {
  const read = parse(dotFolder, value, file)
  const extensions = isJsonObject(value['extensions']) ? value['extensions'] : {}
  return {
    ...{ form: 'dot', version: read.version ?? null, description: read.description ?? '' },
    name: read.name ?? parse(name, basename(root), `${file}: name`),
    ours: parse(ours, extensions[NAMESPACE] ?? {}, `${file}: extensions.${NAMESPACE}`),
    raw: value,
    problems: unusedMembers(value, file),
  }
}

/** Members of a dot folder's manifest that are read, or say what the plugin is. */
const DOT_MEMBERS = new Set([
  ...[
    '$schema',
    'name',
    'displayName',
    'version',
    'description',
    'author',
    'homepage',
    'repository',
    'license',
    'keywords',
  ],
  ...['commands', 'hooks', 'mcpServers', 'extensions'],
])

function unusedMembers(value: JsonObject, file: string): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    if (DOT_MEMBERS.has(key)) return []
    if (key !== 'skills') return [`${file}: ${shortened(key)} is not used here; it is ignored.`]
    const isUsual = [member].flat().every((path) => /^(?:\.\/)?skills\/?$/.test(String(path)))
    return isUsual ? [] : [`${file}: skills are read from skills/ alone; what skills names is ignored.`]
  })
}

function readPackage(value: JsonObject, own: JsonObject): PluginManifest {
  const { version, description } = value
  const named = typeof value['name'] === 'string' ? value['name'].replace(/^@/, '').replace('/', '.') : ''
  return {
    form: 'package',
    name: parse(name, named, 'package.json: name'),
    version: typeof version === 'string' ? version : null,
    description: typeof description === 'string' ? description : '',
    ours: parse(ours, own, 'package.json: hermes'),
    raw: {},
    problems: [],
  }
}

async function readJson(root: string, file: string): Promise<JsonObject | null> {
  const text = await readFile(join(root, file)).catch(() => null)
  if (text === null) return null
  if ((await insidePath(root, `./${file}`)) === null) throw bad(`${file} leads out of the plugin.`)
  if (text.length > MAX_BYTES) throw bad(`${file} has ${text.length} bytes; at most ${MAX_BYTES} are read.`)
  try {
    const value: unknown = parseJson(text.toString('utf8'))
    if (isJsonObject(value)) return value
  } catch (error) {
    throw bad(`${file} is no JSON: ${shortened(errorLine(error))}.`)
  }
  throw bad(`${file} holds no JSON object.`)
}

function parse<Value>(schema: z.ZodType<Value>, value: unknown, place: string): Value {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const at = issue?.path.map(String).join('.') ?? ''
  throw bad(
    `${place}${at === '' ? '' : `.${shortened(at)}`}: ${shortened((issue?.message ?? 'it is not valid').replace(/\.$/, ''))}.`,
  )
}

const bad = (message: string) => new HermesError(message, { code: 'plugins.bad_manifest' })
