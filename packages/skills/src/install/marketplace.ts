// The skills of a marketplace of Claude Code plugins: `.claude-plugin/marketplace.json`, as its reference had it in November 2026 and its schema
// in SchemaStore (claude-code-marketplace.json of 2026-04-23). Of a plugin the skills alone are taken. @see https://code.claude.com/docs/en/plugins/marketplace-reference
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, posix } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { isTexts } from '../format/skill.js'

/** What a marketplace lists. */
interface MarketplaceSkills {
  /** Folders in it that are skills or have some. Below the root of the marketplace, with slashes. */
  readonly folders: readonly string[]
  /** Plugins that lie elsewhere, each with the git address that gets it; empty where git cannot. */
  readonly elsewhere: readonly { readonly name: string; readonly from: string }[]
}

const FILE = '.claude-plugin/marketplace.json'
const MANIFEST = '.claude-plugin/plugin.json'
const MAX_BYTES = 4_194_304
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/

/** What the marketplace at `root` lists; `null` where there is none. Rejects with one line for a damaged one. */
export async function marketplaceAt(root: string): Promise<MarketplaceSkills | null> {
  const market = await jsonAt(join(root, FILE))
  if (market === null) return null
  const plugins = market['plugins']
  if (!Array.isArray(plugins)) throw new Error(`${FILE} lists no plugins`)
  const metadata = isJsonObject(market['metadata']) ? market['metadata'] : {}
  const base = typeof metadata['pluginRoot'] === 'string' ? metadata['pluginRoot'] : '.'
  const folders: string[] = []
  const elsewhere: { name: string; from: string }[] = []
  for (const plugin of plugins) {
    if (!isJsonObject(plugin)) continue
    const { name, source } = plugin
    if (typeof name !== 'string' || !NAME.test(name)) continue
    if (typeof source === 'string') folders.push(...(await foldersOf(root, placeOf(base, source), plugin)))
    else if (isJsonObject(source)) elsewhere.push({ name, from: addressOf(source) })
  }
  return { folders: [...new Set(folders)], elsewhere }
}

/** A name alone lies in the root of plugins; a path is one of the marketplace. */
const placeOf = (base: string, source: string) => (source.startsWith('./') ? source : posix.join(base, source))

/** Where the skills of a plugin lie: what its entry and its own manifest say, and `skills`. Nothing outside of the marketplace. */
async function foldersOf(root: string, place: string, entry: JsonObject): Promise<readonly string[]> {
  const manifest = isInside(place) ? await jsonAt(join(root, place, MANIFEST)) : null
  const named = [entry['skills'], manifest?.['skills']].flatMap((value) =>
    typeof value === 'string' ? [value] : isTexts(value) ? value : [],
  )
  return ['skills', ...named].map((path) => posix.join(place, path)).filter(isInside)
}

const isInside = (path: string) => !isAbsolute(path) && !posix.normalize(path).split('/').includes('..')

/** What gets a plugin from elsewhere; a commit counts more than a branch. */
function addressOf({ source, repo, url, path, ref, sha }: JsonObject): string {
  const mark = [sha, ref].find((one): one is string => typeof one === 'string' && /^[\w][\w./-]{0,199}$/.test(one))
  const below = typeof path === 'string' && /^[\w][\w./-]{0,199}$/.test(path) && isInside(path) ? `//${path}` : ''
  const end = `${below}${mark === undefined ? '' : `#${mark}`}`
  if (source === 'github' && typeof repo === 'string' && /^[\w.-]+\/[\w.-]+$/.test(repo))
    return `https://github.com/${repo}.git${end}`
  const isGit = source === 'url' || source === 'git-subdir'
  if (!isGit || typeof url !== 'string') return ''
  if (/^[\w.-]+\/[\w.-]+$/.test(url)) return `https://github.com/${url}.git${end}`
  return /^https:\/\/[\w.-]+(?::\d+)?\/[\w./~-]+$/.test(url) ? `${url.replace(/(?:\.git)?\/?$/, '.git')}${end}` : ''
}

async function jsonAt(file: string): Promise<JsonObject | null> {
  const info = await stat(file).catch(() => null)
  if (!info?.isFile() || info.size > MAX_BYTES) return null
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return isJsonObject(value) ? value : null
  } catch {
    throw new Error(`${file.split('/').slice(-2).join('/')} in it is no JSON`)
  }
}
