import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import type { SkillChange } from './skill-changes.js'

/** A change that waits for a person. */
export interface StagedChange {
  readonly id: string
  readonly atMs: number
  readonly sessionId: string
  /** Why it waits, for a person. */
  readonly why: string
  readonly change: SkillChange
}

const MAX_STAGED = 100

/** Changes that wait, a file each. What is damaged is left out. */
export class StagedChanges {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** @throws HermesError `skills.too_many_staged`, `files.not_writable` */
  async add(staged: Omit<StagedChange, 'id'>): Promise<StagedChange> {
    if ((await this.list()).length >= MAX_STAGED)
      throw new HermesError(`${MAX_STAGED} changes of skills wait already; answer some: hermes skills pending`, {
        code: 'skills.too_many_staged',
      })
    const whole = { id: randomBytes(3).toString('hex'), ...staged }
    await writePrivate(this.#fileOf(whole.id), `${JSON.stringify(whole, null, 2)}\n`)
    return whole
  }

  /** Oldest first. */
  async list(): Promise<readonly StagedChange[]> {
    const names = await readdir(this.#directory).catch(() => [])
    const all = await Promise.all(
      names.filter((name) => /^[0-9a-f]{6}\.json$/.test(name)).map((name) => read(join(this.#directory, name))),
    )
    return all.filter((one) => one !== null).sort((one, other) => one.atMs - other.atMs)
  }

  /** Those that the words mean: ids, or `all`. @throws HermesError `skills.unknown` */
  async named(words: readonly string[]): Promise<readonly StagedChange[]> {
    const all = await this.list()
    if (words.length === 1 && words[0] === 'all') return all
    return words.map((word) => {
      const found = all.find(({ id }) => id === word)
      if (found) return found
      const open = all.length === 0 ? 'Nothing waits.' : `What waits: ${all.map(({ id }) => id).join(', ')}.`
      throw new HermesError(`There is no staged change ${word.slice(0, 40)}. ${open}`, { code: 'skills.unknown' })
    })
  }

  async remove(id: string): Promise<void> {
    await rm(this.#fileOf(id), { force: true })
  }

  #fileOf(id: string): string {
    return join(this.#directory, `${id}.json`)
  }
}

async function read(file: string): Promise<StagedChange | null> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isJsonObject(value) || !isChange(value['change'])) return null
    const { atMs, sessionId, why, change } = value
    if (typeof atMs !== 'number' || typeof sessionId !== 'string' || typeof why !== 'string') return null
    // The name of the file is its id: what it says itself could name any other file.
    return { id: basename(file, '.json'), atMs, sessionId, why, change }
  } catch {
    return null
  }
}

/** The texts of each change. */
const TEXTS: Readonly<Record<SkillChange['action'], readonly string[]>> = {
  create: ['description', 'content'],
  edit: ['content'],
  patch: ['path', 'oldText', 'newText'],
  delete: [],
  write_file: ['path', 'content'],
  remove_file: ['path'],
}

function isChange(value: unknown): value is SkillChange & JsonObject {
  if (!isJsonObject(value)) return false
  const { action, name, description = '', force = false, replaceAll = false } = value
  return (
    typeof action === 'string' &&
    Object.hasOwn(TEXTS, action) &&
    TEXTS[action as SkillChange['action']].every((key) => typeof value[key] === 'string') &&
    [name, description].every((text) => typeof text === 'string') &&
    [force, replaceAll].every((flag) => typeof flag === 'boolean')
  )
}
