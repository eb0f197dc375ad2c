// What became of skills of the home, change by change, so that a person sees what was learnt from what, and can undo it.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { SKILL_NAME } from '../format/skill.js'

/** Who wanted a change. */
export type ChangedBy = 'person' | 'agent' | 'look back' | 'curator'

/** One change of a skill, as it was made. */
export interface SkillRecordedChange {
  readonly id: string
  readonly atMs: number
  readonly by: ChangedBy
  /** The session that it came of; `null` outside one. */
  readonly sessionId: string | null
  /** For a person: create, patch … and why. */
  readonly what: string
  readonly name: string
  /** Below the folder of the skills. */
  readonly file: string
  readonly before: string | null
  readonly after: string | null
  /** Below the folder of the skills: where what went is kept; `null` where nothing is. */
  readonly kept: string | null
}

const KEPT = 200

/** The changes of skills, a file each. */
export class SkillHistory {
  readonly #skills: string
  readonly #directory: string

  constructor(skills: string) {
    this.#skills = skills
    this.#directory = join(skills, '.history')
  }

  /** Keeps the newest two hundred. @throws HermesError `files.not_writable` */
  async add(
    change: Omit<SkillRecordedChange, 'id' | 'file' | 'kept'> & { readonly file: string; readonly kept: string | null },
  ): Promise<void> {
    const below = (path: string) => relative(this.#skills, path).replaceAll(sep, '/')
    const id = randomBytes(3).toString('hex')
    const { file, kept, ...facts } = change
    const names = await this.#names()
    // What was made in the same moment comes after it, so that it is undone first.
    const atMs = Math.max(change.atMs, Number(names.at(-1)?.slice(0, 15) ?? 0) + 1)
    const record = { id, ...facts, atMs, file: below(file), kept: kept === null ? null : below(kept) }
    await writePrivate(this.#fileOf(id, atMs), `${JSON.stringify(record, null, 2)}\n`)
    for (const name of names.slice(0, 1 - KEPT)) await rm(join(this.#directory, name), { force: true })
  }

  /** Oldest first. What is damaged is left out. */
  async list(): Promise<readonly SkillRecordedChange[]> {
    const all = await Promise.all((await this.#names()).map((name) => read(join(this.#directory, name))))
    return all.filter((one) => one !== null)
  }

  /** @throws HermesError `skills.unknown` */
  async named(id: string): Promise<SkillRecordedChange> {
    const found = (await this.list()).find((one) => one.id === id)
    if (found) return found
    throw new HermesError(`Nothing was learnt under ${id.slice(0, 40)}. All there is: hermes learn`, {
      code: 'skills.unknown',
    })
  }

  /**
   * Takes a change back, unless something else was made of it since. What goes is kept in `.archive`.
   * @throws HermesError `skills.changed`, `files.not_writable`
   */
  async undo({ name, file, before, after, kept, atMs, id }: SkillRecordedChange, nowMs: number): Promise<void> {
    const path = join(this.#skills, file)
    const changed = new HermesError(`${path} is another one since then, so nothing was undone. Look at it.`, {
      code: 'skills.changed',
    })
    if (kept !== null) {
      // The whole skill went: it comes back.
      if ((await readdir(path).catch(() => [])).length > 0) throw changed
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(join(this.#skills, kept), path).catch(() => {
        throw changed
      })
    } else {
      const current = await readFile(path, 'utf8').catch(() => null)
      if (current !== after) throw changed
      if (before !== null) await writePrivate(path, before)
      else if (basename(path) === 'SKILL.md') await this.#archive(dirname(path), `${name}-${nowMs}`)
      else await rm(path, { force: true })
    }
    await rm(this.#fileOf(id, atMs), { force: true })
  }

  async #archive(folder: string, name: string): Promise<void> {
    const kept = join(this.#skills, '.archive', name)
    await mkdir(dirname(kept), { recursive: true, mode: 0o700 })
    await rename(folder, kept)
  }

  async #names(): Promise<readonly string[]> {
    const names: readonly string[] = await readdir(this.#directory).catch(() => [])
    return names.filter((name) => /^\d{15}-[0-9a-f]{6}\.json$/.test(name)).toSorted()
  }

  #fileOf(id: string, atMs: number): string {
    return join(this.#directory, `${String(Math.max(0, Math.floor(atMs))).padStart(15, '0')}-${id}.json`)
  }
}

async function read(file: string): Promise<SkillRecordedChange | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isJsonObject(value) || !isRecord(value)) return null
    // The name of the file is its id: what it says itself could name any other file.
    const [atMs = '', id = ''] = basename(file, '.json').split('-')
    return { ...(value as unknown as SkillRecordedChange), id, atMs: Number(atMs) }
  } catch {
    return null
  }
}

function isRecord(value: JsonObject): boolean {
  const { by, sessionId, what, name, file, before, after, kept } = value
  return (
    (by === 'person' || by === 'agent' || by === 'look back' || by === 'curator') &&
    typeof what === 'string' &&
    typeof name === 'string' &&
    SKILL_NAME.test(name) &&
    isBelow(file) &&
    [sessionId, before, after, kept].every((text) => text === null || typeof text === 'string') &&
    (kept === null || isBelow(kept))
  )
}

/** A file of the history that was edited names nothing outside the skills. */
const isBelow = (path: unknown) =>
  typeof path === 'string' && path !== '' && !path.startsWith('/') && !path.split('/').includes('..')
