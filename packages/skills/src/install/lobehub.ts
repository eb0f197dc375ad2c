// The marketplace of LobeHub, by the three calls that its own client makes without a login (npm @lobehub/market-sdk 0.39.2, MarketSkillService):
// a list by pages, a skill with the SHA-256 of its resources, and its archive.
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { SKILL_NAME } from '../format/skill.js'
import { type Hub, hubBytes, hubJson, lineOf, MAX_FILES, oddFiles, PER_PAGE, writeFiles } from './hub.js'
import { sha256 } from './lock.js'
import { readZip } from './read-zip.js'

const API = 'https://market.lobehub.com/api/v1/skills'
/** `lobehub:IDENTIFIER@VERSION`, or the address of its page. */
const FROM =
  /^(?:lobehub:|https:\/\/(?:www\.)?lobehub\.com\/(?:[a-z]{2}(?:-[A-Za-z]{2})?\/)?skills\/)([\w.-]{1,200})(?:@([\w.+-]{1,64}))?\/?$/
const HUB = 'LobeHub'
const MAX_BYTES = 5_242_880

export const lobehub: Hub = {
  name: 'lobehub',

  async search(words, page, request) {
    const query = new URLSearchParams({
      ...{ q: words, sort: 'relevance', locale: 'en-US' },
      ...{ page: String(page), pageSize: String(PER_PAGE) },
    })
    const { items, totalCount } = await hubJson(HUB, `${API}?${query}`, request)
    if (!Array.isArray(items)) throw new Error(`${HUB} gave no list`)
    const found = items.flatMap((one) => (isJsonObject(one) ? foundIn(one) : []))
    return { found, total: typeof totalCount === 'number' ? totalCount : found.length }
  },

  has: (from) => from.startsWith('lobehub:') || FROM.test(from),

  async get(from, stage, request) {
    const [, id, wanted] = FROM.exec(from) ?? []
    if (id === undefined)
      throw new Error(`${from.slice(0, 100)} is no lobehub:IDENTIFIER or lobehub:IDENTIFIER@VERSION`)
    const { version, digests } = await skillOf(id, wanted, request)
    const archive = await hubBytes(HUB, `${API}/${id}/download?${new URLSearchParams({ version })}`, MAX_BYTES, request)
    const files = readZip(archive, { maxFiles: MAX_FILES, maxBytes: MAX_BYTES })
    const odd = oddFiles(files.map(({ path }) => path))
    if (odd !== null) throw new Error(odd)
    requireListed(new Map(files.map(({ path, bytes }) => [path, bytes])), digests)
    const folder = join(stage, SKILL_NAME.test(id) ? id : 'skill')
    await writeFiles(folder, files)
    // Without the version, so that an update gets the newest one; with it where the person named one.
    return {
      skills: [{ folder, name: id, from: `lobehub:${id}${wanted === undefined ? '' : `@${wanted}`}` }],
      pin: version,
    }
  },
}

function foundIn({ identifier, description, name, version, github, installCount }: JsonObject) {
  if (typeof identifier !== 'string' || !FROM.test(`lobehub:${identifier}`)) return []
  const stars = isJsonObject(github) && typeof github['stars'] === 'number' ? `${github['stars']} stars` : ''
  const installs = typeof installCount === 'number' && installCount > 0 ? `${installCount} installs` : ''
  const liked = [lineOf(version), installs, stars].filter((part) => part !== '').join(', ')
  return [{ from: `lobehub:${identifier}`, about: lineOf(description) || lineOf(name), liked }]
}

/** What the hub says of one: the version that is meant, and the SHA-256 of its files but SKILL.md. */
async function skillOf(
  id: string,
  wanted: string | undefined,
  request: Parameters<Hub['get']>[2],
): Promise<{ readonly version: string; readonly digests: Readonly<Record<string, string>> }> {
  const query = new URLSearchParams({ locale: 'en-US', ...(wanted === undefined ? {} : { version: wanted }) })
  const skill = await hubJson(HUB, `${API}/${id}?${query}`, request)
  if (skill['identifier'] !== id) throw new Error(`${HUB} gave another skill than ${id}`)
  const version = lineOf(skill['version'])
  if (!/^[\w.+-]{1,64}$/.test(version)) throw new Error(`${HUB} says no version of ${id}`)
  if (wanted !== undefined && version !== wanted) throw new Error(`${HUB} gave another version than ${wanted}`)
  const resources = isJsonObject(skill['resources']) ? Object.entries(skill['resources']) : []
  const digests = resources.map(([path, one]) => {
    const digest = isJsonObject(one) ? one['fileHash'] : null
    if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/i.test(digest))
      throw new Error(`${HUB} says no SHA-256 of ${path.slice(0, 100)}`)
    return [path, digest.toLowerCase()] as const
  })
  return { version, digests: Object.fromEntries(digests) }
}

/** All that the hub lists is in the archive, as it lists it. */
function requireListed(files: ReadonlyMap<string, Uint8Array>, digests: Readonly<Record<string, string>>): void {
  for (const [path, digest] of Object.entries(digests)) {
    const bytes = files.get(path)
    if (bytes === undefined) throw new Error(`its archive lacks ${path.slice(0, 100)}, which ${HUB} lists`)
    if (sha256(bytes) !== digest)
      throw new Error(`${path.slice(0, 100)} is not what the list of ${HUB} says: another SHA-256`)
  }
}
