// What every hub of skills has in common: how it is asked, how it fails, and how what it sends is put into quarantine.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorLine, isJsonObject, type JsonObject } from '@hermes/contracts'
import type { SkillsHome } from '../skills-home.js'
import type { Fetched } from './fetched.js'

/** How a hub is asked. */
export interface HubRequest {
  readonly fetch: SkillsHome['fetch']
  readonly signal: AbortSignal
}

/** Something that can be installed. */
interface FoundSkill {
  /** For `hermes skills install`. */
  readonly from: string
  readonly about: string
  /** `7 stars`, `1200 installs`; empty where nothing is known. */
  readonly liked: string
}

/** Pages of what was found; `total` is what is known to be there. */
export interface FoundSkills {
  readonly found: readonly FoundSkill[]
  readonly total: number
  /** What a person should know of it, one line. */
  readonly note?: string
}

/** Where skills are published. */
export interface Hub {
  /** As `--source` names it. */
  readonly name: string
  /** Looks for skills; `page` from 1. Rejects with one line. */
  search(words: string, page: number, request: HubRequest): Promise<FoundSkills>
  /** Whether `install` is given one of its skills. */
  has(from: string): boolean
  /** Gets one into `stage`. Rejects with one line. */
  get(from: string, stage: string, request: HubRequest): Promise<Fetched>
}

/** Of one page. */
export const PER_PAGE = 30
const MAX_JSON_BYTES = 8_388_608

/** What a hub answers; `hub` is how people call it. Rejects with one line. */
export async function hubJson(hub: string, url: string, { fetch, signal }: HubRequest): Promise<JsonObject> {
  const value = await hubBytes(hub, url, MAX_JSON_BYTES, { fetch, signal })
  try {
    const json: unknown = JSON.parse(Buffer.from(value).toString('utf8'))
    if (isJsonObject(json)) return json
  } catch {
    throw new Error(`${hub} gave half an answer; try again`)
  }
  throw new Error(`${hub} gave no list`)
}

/** Bytes that a hub sends, at most `maxBytes`. Rejects with one line. */
export async function hubBytes(
  hub: string,
  url: string,
  maxBytes: number,
  { fetch, signal }: HubRequest,
): Promise<Uint8Array> {
  try {
    return await fetch(url, { maxBytes, signal })
  } catch (error) {
    signal.throwIfAborted()
    const why = errorLine(error)
    const status = /answered (\d{3})/.exec(why)?.[1]
    if (status === '403' || status === '429')
      throw new Error(`${hub} takes no more requests for now; try again in a minute`)
    if (status === '401') throw new Error(`${hub} wants a login for it`)
    if (status === '404' || status === '410') throw new Error(`${hub} has no such skill`)
    throw new Error(why.replace(/\.$/, ''))
  }
}

/** That a skill may have. */
export const MAX_FILES = 50
const FILE = /^(?!.*(?:^|\/)\.)[\w. +@()-]+(?:\/[\w. +@()-]+)*$/

/** Why a list of files is none of a skill; `null` where it is one. */
export function oddFiles(paths: readonly string[]): string | null {
  if (paths.length > MAX_FILES) return `it has ${paths.length} files, at most ${MAX_FILES}`
  if (paths.some((path) => !FILE.test(path))) return 'it names files that no skill has'
  if (new Set(paths).size < paths.length) return 'it names a file twice'
  return paths.includes('SKILL.md') ? null : 'it has no SKILL.md'
}

/** Writes a skill that a hub sent; its files were looked at by {@link oddFiles}. */
export async function writeFiles(
  folder: string,
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
): Promise<void> {
  for (const { path, bytes } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
}

/** A text of an answer on one line; empty where there is none. */
export const lineOf = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, 300) : ''
