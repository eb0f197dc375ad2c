// ClawHub, by its HTTP API v1 as documented in November 2026 and as its own client reads it (npm clawhub 0.23.3, dist/schema). Files are fetched one by one, each with the SHA-256 that the list of its version
// says; the archive is not touched. @see https://docs.openclaw.ai/clawhub/http-api
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { SKILL_NAME } from '../format/skill.js'
import { type Hub, hubBytes, hubJson, lineOf, oddFiles, PER_PAGE, writeFiles } from './hub.js'
import { sha256 } from './lock.js'

const API = 'https://clawhub.ai/api/v1'
/** `clawhub:SLUG`, `clawhub:OWNER/SLUG`, and `@VERSION`. */
const FROM = /^clawhub:(?:@?([\w.-]{1,64})\/)?([a-z0-9-]{1,64})(?:@([\w.+-]{1,64}))?$/
/** The hub hands out no larger file. */
const MAX_FILE_BYTES = 204_800
const HUB = 'ClawHub'

export const clawhub: Hub = {
  name: 'clawhub',

  async search(words, page, request) {
    // There are no pages: of a longer list the last part is the page.
    const query = new URLSearchParams({ q: words, limit: String(page * PER_PAGE), nonSuspiciousOnly: 'true' })
    const { results } = await hubJson(HUB, `${API}/search?${query}`, request)
    if (!Array.isArray(results)) throw new Error(`${HUB} gave no list`)
    const all = results.flatMap((one) => (isJsonObject(one) ? foundIn(one) : []))
    const found = all.slice((page - 1) * PER_PAGE)
    return { found, total: all.length + (results.length === page * PER_PAGE ? 1 : 0) }
  },

  has: (from) => from.startsWith('clawhub:'),

  async get(from, stage, request) {
    const [, owner, slug, wanted] = FROM.exec(from) ?? []
    if (slug === undefined) throw new Error(`${from.slice(0, 100)} is no clawhub:SLUG or clawhub:OWNER/SLUG@VERSION`)
    const version = await versionOf({ owner, slug, wanted }, request)
    const files = await filesOf({ slug, version }, request)
    const got: { path: string; bytes: Uint8Array }[] = []
    for (const { path, digest } of files) {
      const query = new URLSearchParams({ path, version })
      const bytes = await hubBytes(HUB, `${API}/skills/${slug}/file?${query}`, MAX_FILE_BYTES, request)
      if (sha256(bytes) !== digest) throw new Error(`${path} is not what the list of ${HUB} says: another SHA-256`)
      got.push({ path, bytes })
    }
    const folder = join(stage, slug)
    await writeFiles(folder, got)
    return { skills: [{ folder, name: slug, from }], pin: version }
  },
}

function foundIn({ slug, ownerHandle, summary, displayName, version, source = 'clawhub' }: JsonObject) {
  // It finds those of skills.sh too, and does not have their files.
  if (source !== 'clawhub' || typeof slug !== 'string' || !SKILL_NAME.test(slug)) return []
  const owner = lineOf(ownerHandle)
  const from = `clawhub:${/^[\w.-]{1,64}$/.test(owner) ? `${owner}/` : ''}${slug}`
  return [{ from, about: lineOf(summary) || lineOf(displayName), liked: lineOf(version) }]
}

/** The version that is meant, of a skill that is what its name says. */
async function versionOf(
  {
    owner,
    slug,
    wanted,
  }: { readonly owner?: string | undefined; readonly slug: string; readonly wanted?: string | undefined },
  request: Parameters<Hub['get']>[2],
): Promise<string> {
  const answer = await hubJson(HUB, `${API}/skills/${slug}`, request)
  const part = (key: string): JsonObject => {
    const value = answer[key]
    return isJsonObject(value) ? value : {}
  }
  const isCalled = lineOf(part('skill')['slug'])
  if (isCalled !== slug) throw new Error(`${HUB} calls it ${isCalled.slice(0, 64) || 'nothing'} now; name that one`)
  const whose = lineOf(part('owner')['handle'])
  if (owner !== undefined && whose !== owner)
    throw new Error(`on ${HUB} ${slug} is of ${whose || 'nobody'}, not of ${owner}`)
  const { isMalwareBlocked, verdict } = part('moderation')
  if (isMalwareBlocked === true || verdict === 'malicious') throw new Error(`${HUB} has blocked ${slug} as harmful`)
  const version = wanted ?? lineOf(part('latestVersion')['version'])
  if (!/^[\w.+-]{1,64}$/.test(version)) throw new Error(`${HUB} says no version of ${slug}`)
  return version
}

async function filesOf(
  { slug, version }: { readonly slug: string; readonly version: string },
  request: Parameters<Hub['get']>[2],
): Promise<readonly { readonly path: string; readonly digest: string }[]> {
  const answer = await hubJson(HUB, `${API}/skills/${slug}/versions/${version}`, request)
  const listed = isJsonObject(answer['version']) ? answer['version'] : {}
  if (listed['version'] !== version) throw new Error(`${HUB} gave another version than ${version}`)
  const files = Array.isArray(listed['files']) ? listed['files'].filter(isJsonObject) : []
  const odd = oddFiles(files.map(({ path }) => String(path)))
  if (odd !== null) throw new Error(odd)
  return files.map(({ path, sha256: digest }) => {
    if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest))
      throw new Error(`${HUB} says no SHA-256 of ${path}`)
    return { path: String(path), digest }
  })
}
