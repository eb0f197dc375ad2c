import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { errorLine, HermesError, isJsonObject } from '@hermes/contracts'
import { parseEnv } from '../env-file.js'
import { readText } from '../files.js'
import { homeLayout } from '../home.js'
import { existingHome, newHome } from './manage.js'

/** What an archive may hold: settings and knowledge. Keys, logins, sessions, answers and logs stay in the home. */
const EXPORTED = [
  ...['config.yaml', 'permissions.yaml', 'SOUL.md', 'profile.yaml'],
  ...['skills', 'memories', 'extensions', 'hooks', 'scripts', 'cron'],
]
const MAX_BYTES = 100_000_000
const MAX_FILES = 10_000

/** What became of an export. */
interface ProfileArchive {
  /** The text of the file: a zip archive. */
  readonly bytes: Uint8Array
  readonly files: number
  /** Keys of config.yaml that were taken out because their values are secrets. */
  readonly removedKeys: readonly string[]
  /** Files that were left out because a key or a login of the home stands in them. */
  readonly withheld: readonly string[]
}

/**
 * Packs a profile without its secrets: none of `.env`, `auth.json` and config.yaml is in any file of the archive.
 * @throws HermesError `config.unknown_profile`
 */
export async function exportProfile(root: string, name: string): Promise<ProfileArchive> {
  const home = await existingHome(root, name)
  const { secrets, config, removedKeys } = await secretsOf(home)
  const entries: Record<string, Uint8Array> = {}
  const withheld: string[] = []
  for (const path of await filesOf(home)) {
    const bytes = path === 'config.yaml' ? Buffer.from(config) : await readFile(join(home, path))
    if (secrets.some((secret) => bytes.includes(secret))) withheld.push(path)
    else entries[path] = bytes
  }
  const { zipSync } = await import('fflate')
  return { bytes: zipSync(entries), files: Object.keys(entries).length, removedKeys, withheld }
}

async function filesOf(home: string): Promise<readonly string[]> {
  const found: string[] = []
  const look = async (path: string): Promise<void> => {
    const status = await lstat(join(home, path)).catch(() => null)
    if (status?.isFile()) found.push(path)
    // Links may lead out of the home.
    if (status?.isDirectory()) for (const entry of await readdir(join(home, path))) await look(posix.join(path, entry))
  }
  for (const path of EXPORTED) await look(path)
  return found
}

const SECRET_NAME =
  /(?:^|[_-])(?:key|secret|token|password|passphrase|credential)s?$|^(?:apikey|access|refresh|authorization|cookie)$/i
const REFERENCE = /^\$\{[^}]*\}$/
const PASSWORD_IN_URL = /(?<=^[a-z][\w+]*:\/\/[^/:@\s]*:)[^@\s]+(?=@)/i

async function secretsOf(home: string) {
  const { env, auth, config } = homeLayout(home)
  const variables = Object.values(parseEnv((await readText(env)) ?? ''))
  const stripped = await withoutSecrets((await readText(config)) ?? '')
  const all = [...variables, ...textsIn(parseJson((await readText(auth)) ?? '')), ...stripped.secrets]
  // A short one stands anywhere by chance.
  const secrets = [...new Set(all)].filter((secret) => secret.length >= 8)
  return { secrets, config: stripped.text, removedKeys: stripped.keys }
}

/** The text of a config.yaml without values that are secrets; other lines keep their comments. */
async function withoutSecrets(text: string) {
  const { default: yaml } = await import('yaml')
  const doc = yaml.parseDocument(text, { logLevel: 'error' })
  const keys: string[] = []
  const secrets: string[] = []
  if (doc.errors.length > 0)
    throw new HermesError('config.yaml cannot be read, so its keys cannot be told apart: hermes config check', {
      code: 'config.broken',
    })
  yaml.visit(doc, {
    Pair: (_, pair, path) => {
      const name = String(yaml.isScalar(pair.key) ? pair.key.value : pair.key)
      const above = path.flatMap((node) =>
        yaml.isPair(node) && yaml.isScalar(node.key) ? [String(node.key.value)] : [],
      )
      const value = yaml.isScalar(pair.value) ? pair.value.value : undefined
      if (typeof value !== 'string' || value === '' || REFERENCE.test(value)) return undefined
      const isHeader = above.at(-1)?.endsWith('headers') ?? false
      const password = PASSWORD_IN_URL.exec(value)?.[0]
      if (!SECRET_NAME.test(name) && !isHeader && password === undefined) return undefined
      keys.push([...above, name].join('.'))
      secrets.push(password ?? value)
      return yaml.visit.REMOVE
    },
  })
  return { text: keys.length === 0 ? text : doc.toString({ lineWidth: 0 }), keys, secrets }
}

function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) =>
    typeof item === 'string' ? (/token|key|secret|password/i.test(name) ? [item] : []) : textsIn(item),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/**
 * Makes a profile of an archive. Nothing is left when it cannot be taken.
 * @returns how many files there are
 * @throws HermesError `config.bad_archive`, `config.bad_profile`, `config.profile_exists`
 */
export async function importProfile(root: string, name: string, bytes: Uint8Array): Promise<number> {
  const home = await newHome(root, name)
  const files = await unpack(bytes)
  try {
    for (const [path, content] of files) {
      const file = join(home, path)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, content, { mode: 0o600 })
    }
  } catch (cause) {
    await rm(home, { recursive: true, force: true })
    throw new HermesError(`Cannot write the profile: ${errorLine(cause)}. Nothing of it was kept.`, {
      code: 'files.not_writable',
      cause,
    })
  }
  return files.length
}

async function unpack(bytes: Uint8Array): Promise<readonly (readonly [string, Uint8Array])[]> {
  const { unzipSync } = await import('fflate')
  let size = 0
  let count = 0
  const refuse = (why: string): never => {
    throw new HermesError(`This is no profile that can be taken: ${why}`, { code: 'config.bad_archive' })
  }
  const filter = (file: { name: string; originalSize: number }) => {
    size += file.originalSize
    if (size > MAX_BYTES || ++count > MAX_FILES) refuse(`it holds more than 100 MB or ${MAX_FILES} files.`)
    if (file.name.endsWith('/')) return false
    if (!isOfProfile(file.name)) refuse(`"${file.name.slice(0, 80)}" does not belong into one.`)
    return true
  }
  try {
    const files = Object.entries(unzipSync(bytes, { filter }))
    return files.length > 0 ? files : refuse('it is empty.')
  } catch (error) {
    if (HermesError.isInstance(error)) throw error
    return refuse('it is no zip archive, or damaged.')
  }
}

function isOfProfile(name: string): boolean {
  const isPlain =
    !name.includes('\\') && !name.includes('\0') && posix.normalize(name) === name && !name.startsWith('/')
  return isPlain && !name.startsWith('..') && EXPORTED.includes(name.split('/')[0]!)
}
