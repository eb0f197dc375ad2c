// What a person agreed to: every file of a plugin, bound by a hash.
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { isInside } from './inside-path.js'

/** The files of a plugin at one moment. */
export interface PluginDigest {
  /** SHA-256 over what they hold. */
  readonly content: string
  /** SHA-256 over sizes and times: while it is the same, nobody wrote to them. */
  readonly state: string
}

const MAX_FILES = 20_000
const MAX_BYTES = 200_000_000

interface Found {
  readonly path: string
  readonly link: string | null
  readonly size: bigint
  readonly state: string
}

/**
 * Looks at every file below `root`; with `known` the contents are read only when something was written since.
 * @throws HermesError `plugins.too_large`, `plugins.leads_out` for a link out of the plugin.
 */
export async function digestOf(root: string, known?: PluginDigest): Promise<PluginDigest> {
  const real = await realpath(root)
  const found: Found[] = []
  await collect(real, '', found)
  const state = sha256(found.map(({ path, state: one }) => `${path}\0${one}`).join('\n'))
  if (known && known.state === state) return known
  const bytes = found.reduce((sum, { size }) => sum + size, 0n)
  if (bytes > BigInt(MAX_BYTES)) throw tooLarge(`its files have more than ${MAX_BYTES / 1_000_000} MB`)
  const hash = createHash('sha256')
  for (const { path, link } of found) {
    const content = link ?? (await readFile(join(real, path)))
    hash.update(`${path}\0${link === null ? 'file' : 'link'}\0${content.length}\0`).update(content)
  }
  return { content: hash.digest('hex'), state }
}

async function collect(root: string, folder: string, found: Found[]): Promise<void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      await collect(root, path, found)
      continue
    }
    if (found.length >= MAX_FILES) throw tooLarge(`it has more than ${MAX_FILES} files`)
    const at = join(root, path)
    const link = entry.isSymbolicLink() ? await readlink(at) : null
    if (link !== null && !isInside(root, await realpath(at).catch(() => at)))
      throw new HermesError(`the link ${path.slice(0, 100)} leads out of the plugin`, { code: 'plugins.leads_out' })
    if (link === null && !entry.isFile())
      throw new HermesError(`${path.slice(0, 100)} is no file`, { code: 'plugins.leads_out' })
    const info = await lstat(at, { bigint: true })
    const state = [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs, info.mode].join(' ')
    found.push({ path, link, size: info.size, state })
  }
}

const tooLarge = (reason: string) => new HermesError(reason, { code: 'plugins.too_large' })
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
