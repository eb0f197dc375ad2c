// Skills that a site offers. @see https://agentskills.io/well-known-uri, discovery 0.2.0, and the form of 0.1.0 before it.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { MAX_SKILL_BYTES, SKILL_FILE, SKILL_NAME } from '../format/skill.js'
import type { SkillsHome } from '../skills-home.js'
import { hubBytes, hubJson, writeFiles } from './hub.js'
import { MAX_PACKED_BYTES, packedSkill } from './packed-skill.js'

/** A skill that a site lists. */
interface Offered {
  readonly name: string
  readonly description: string
  /** Its files with their addresses. */
  readonly files: readonly { readonly path: string; readonly url: string }[]
  /** Whether its one file is an archive with all of them. */
  readonly isPacked: boolean
  /** SHA-256 of its one file, as the site says; `null` where it says none. */
  readonly digest: string | null
  /** Why it cannot be taken. */
  readonly problem: string | null
}

const PLACES = ['agent-skills', 'skills']
const MAX_FILES = 50
const FILE = /^(?!.*(?:^|\/)\.)[\w.-]+(?:\/[\w.-]+)*$/

/** What a site lists, whatever part of it the address names. Rejects with one line. */
export async function offeredBy(
  url: string,
  { fetch, signal }: Pick<SkillsHome, 'fetch'> & { readonly signal: AbortSignal },
): Promise<readonly Offered[]> {
  const failures: string[] = []
  for (const place of PLACES) {
    const index = new URL(
      `${url.replace(/[?#].*$/, '').replace(/\/?(?:\.well-known\/.*)?$/, '')}/.well-known/${place}/index.json`,
    )
    try {
      return readIndex(await hubJson(index.host, index.href, { fetch, signal }), index)
    } catch (error) {
      signal.throwIfAborted()
      failures.push((error as Error).message.replace(/\.$/, ''))
    }
  }
  const why = failures.find((one) => !one.endsWith(' has no such skill'))
  throw notFetched(`no list of skills is there${why === undefined ? '' : `: ${why}`}`)
}

function readIndex({ skills }: JsonObject, index: URL): readonly Offered[] {
  if (!Array.isArray(skills)) throw new Error(`${index.href} lists no skills`)
  return skills.flatMap((one) => (isJsonObject(one) ? [offered(one, index)] : []))
}

function offered(one: JsonObject, index: URL): Offered {
  const text = (key: string) => (typeof one[key] === 'string' ? one[key] : '')
  const name = text('name')
  const listed = Array.isArray(one['files'])
    ? one['files'].filter((file): file is string => typeof file === 'string')
    : null
  const paths = listed ?? [SKILL_FILE]
  const files = paths.slice(0, MAX_FILES).map((path) => ({
    path,
    url: URL.parse(listed === null ? text('url') : `${name}/${path}`, index.href)?.href ?? '',
  }))
  const digest = /^sha256:([0-9a-f]{64})$/i.exec(text('digest'))?.[1]?.toLowerCase() ?? null
  const problem = !SKILL_NAME.test(name)
    ? 'its name is none of a skill'
    : listed === null && digest === null
      ? 'its list says no SHA-256 of it'
      : paths.length > MAX_FILES || paths.some((path) => !FILE.test(path))
        ? 'it names files that no skill has'
        : files.some((file) => URL.parse(file.url)?.origin !== index.origin)
          ? 'it lies on another site'
          : null
  const description = text('description').replace(/\s+/g, ' ').slice(0, 300)
  return { name, description, files, isPacked: listed === null && text('type') === 'archive', digest, problem }
}

/** Gets what a site lists into `stage`; `#NAME` at the end of the address means one of them. Rejects with `skills.not_fetched`. */
export async function fetchWellKnown(
  url: string,
  stage: string,
  { home, signal }: { readonly home: SkillsHome; readonly signal: AbortSignal },
) {
  const [site = '', wanted] = url.split('#')
  const all = await offeredBy(site, { fetch: home.fetch, signal })
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted)
  if (chosen.length === 0) throw notFetched(wanted === undefined ? `${site} lists none` : `${site} lists no ${wanted}`)
  const takeable = chosen.filter(({ problem }) => problem === null)
  // Which one is meant is settled before any of them is fetched.
  if (takeable.length > 1)
    return { skills: takeable.map(({ name }) => ({ folder: stage, name, from: `${site}#${name}` })), pin: null }
  const skills: { folder: string; name: string; from: string }[] = []
  const hash = createHash('sha256')
  for (const one of chosen) {
    if (one.problem !== null) {
      if (chosen.length === 1) throw notFetched(`${one.name.slice(0, 64)}: ${one.problem}`)
      continue
    }
    const folder = join(stage, one.name)
    for (const { path, url: address } of one.files) {
      const most = one.isPacked ? MAX_PACKED_BYTES : MAX_SKILL_BYTES
      const bytes = await hubBytes(new URL(address).host, address, most, { fetch: home.fetch, signal })
      const digest = createHash('sha256').update(bytes).digest('hex')
      if (one.digest !== null && digest !== one.digest)
        throw notFetched(`${address} is not what the list of ${site} says: another SHA-256`)
      hash.update(digest)
      await writeFiles(folder, one.isPacked ? packedSkill(bytes) : [{ path, bytes }])
    }
    skills.push({ folder, name: one.name, from: `${site}#${one.name}` })
  }
  if (skills.length === 0) throw notFetched(`${site} lists none that can be taken`)
  return { skills, pin: hash.digest('hex') }
}

const notFetched = (why: string) =>
  new HermesError(`The skill could not be fetched: ${why}.`, { code: 'skills.not_fetched' })
