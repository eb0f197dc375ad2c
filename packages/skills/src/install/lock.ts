// What is installed, file by file, as a person agreed to it.
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorLine, HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import { isSkillHead, isTexts, SKILL_NAME, type Skill, type SkillHead } from '../format/skill.js'
import { stateOf } from '../index/find-skill-folders.js'

/** An installed skill. */
export interface InstalledSkill {
  readonly head: SkillHead
  /** What the person named, to get it again. */
  readonly from: string
  /** The commit, or the hash of what was fetched; `null` for a folder. */
  readonly pin: string | null
  readonly installedAtMs: number
  /** Of its files, in the directory of the lock. */
  readonly folder: string
  /** SHA-256 by path in the skill. */
  readonly files: Readonly<Record<string, string>>
  /** What the scanner found and the person agreed to, one line each. */
  readonly findings: readonly string[]
  /** The pack that it came with. */
  readonly pack?: PackMark
}

/** A version of a pack, and the SHA-256 of its list. */
export type PackMark = { readonly name: string; readonly version: string; readonly sha256: string }

/** Files of one skill and their facts: while those are the same, nobody wrote to them. */
interface Verified {
  readonly state: string
  readonly problem: string | null
}

const MAX_FILES = 200
/** Of all files of a skill together. */
const MAX_BYTES = 5_242_880

/** The lock of a home: `lock.json` below `.hub` of its skills, and the folders it is about. */
export class SkillLock {
  readonly directory: string
  readonly #file: string
  readonly #verified = new Map<string, Verified>()

  /** `hub`: absolute. */
  constructor(hub: string) {
    this.directory = join(hub, 'skills')
    this.#file = join(hub, 'lock.json')
  }

  /**
   * By name, those whose entries are in form. A lock that is damaged is named by {@link HermesError} `skills.bad_lock`: what it is about is not
   * loaded.
   */
  async read(): Promise<Readonly<Record<string, InstalledSkill>>> {
    const entries = Object.entries(await this.#entries()).filter(
      (entry): entry is [string, InstalledSkill & JsonObject] => isEntry(...entry),
    )
    // Names come from people too: none of them is a member of every object.
    return Object.assign(Object.create(null) as object, Object.fromEntries(entries))
  }

  /** Whether the lock names it, be its entry in form or not. Rejects with `skills.bad_lock`. */
  async has(name: string): Promise<boolean> {
    return Object.hasOwn(await this.#entries(), name)
  }

  async #entries(): Promise<JsonObject> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw badLock(this.#file)
    })
    if (text === null) return {}
    try {
      const value: unknown = JSON.parse(text)
      if (isJsonObject(value) && isJsonObject(value['skills'])) return value['skills']
    } catch {
      // Named below.
    }
    throw badLock(this.#file)
  }

  /**
   * Puts entries in, or takes them out with `null`, all in one write; the others stay as they are, damaged ones too. `prepare` sees each that is
   * there before it goes, and throws to keep all; what it gives undoes what it did, and is called where nothing is written. Rejects with
   * `skills.bad_lock`, `files.not_writable`.
   */
  async set(
    changes: Readonly<Record<string, InstalledSkill | null>>,
    prepare: (name: string, before: InstalledSkill | null) => Promise<() => Promise<unknown>> = async () => async () =>
      undefined,
  ): Promise<void> {
    await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}; try again.` }, async () => {
      const before = await this.#entries()
      const skills: Record<string, unknown> = { ...before }
      const undo: (() => Promise<unknown>)[] = []
      try {
        for (const [name, entry] of Object.entries(changes)) {
          const there = Object.hasOwn(before, name) ? before[name] : null
          undo.push(await prepare(name, isEntry(name, there) ? there : null))
          if (entry === null) delete skills[name]
          else skills[name] = entry
        }
        await writePrivate(this.#file, `${JSON.stringify({ version: 1, skills }, null, 2)}\n`)
      } catch (error) {
        await Promise.allSettled(undo.map((back) => back()))
        throw error
      }
    })
    for (const name of Object.keys(changes)) this.#verified.delete(name)
  }

  /** The installed skills whose files are as they were agreed to, and one line for each of the others. Never rejects. */
  async sound(): Promise<{ readonly skills: readonly Skill[]; readonly problems: readonly string[] }> {
    const skills: Skill[] = []
    const problems: string[] = []
    try {
      for (const [name, entry] of Object.entries(await this.#entries())) {
        if (!isEntry(name, entry)) {
          const shown = SKILL_NAME.test(name) ? name : JSON.stringify(name.slice(0, 64))
          problems.push(
            `Skill ${shown} is not loaded: its entry in ${this.#file} is damaged. Take it away and install it again: hermes skills uninstall ${shown}`,
          )
          continue
        }
        const problem = await this.problemOf(name, entry)
        if (problem !== null) problems.push(problem)
        else
          skills.push({
            ...entry.head,
            source: 'installed',
            folder: join(this.directory, entry.folder),
            origin: entry.from,
          })
      }
    } catch (error) {
      problems.push(errorLine(error))
    }
    return { skills, problems }
  }

  /** Why an installed skill is not loaded; `null` where every file is the one that was agreed to. Never rejects. */
  async problemOf(name: string, entry: InstalledSkill): Promise<string | null> {
    const folder = join(this.directory, entry.folder)
    const found = await filesOf(folder).catch(() => null)
    if (found === null)
      return `Skill ${name} is not loaded: ${folder} is not as it was installed. Install it again: hermes skills update ${name}`
    const state = found.map(({ path, state: one }) => `${path}\0${one}`).join('\n')
    const known = this.#verified.get(name)
    if (known?.state === state) return known.problem
    // One that cannot be read takes no other one along.
    const wrong = await firstChange(folder, entry, found).catch(
      (error: unknown) => `its files cannot be read (${errorLine(error)})`,
    )
    const problem =
      wrong === null
        ? null
        : `Skill ${name} is not loaded: ${wrong}. Look at ${folder}, or get it again: hermes skills update ${name}`
    this.#verified.set(name, { state, problem })
    return problem
  }
}

async function firstChange(
  folder: string,
  { files }: InstalledSkill,
  found: readonly { readonly path: string; readonly size: number }[],
): Promise<string | null> {
  for (const { path, size } of found) {
    if (!Object.hasOwn(files, path)) return `${plainName(path)} was added since it was installed`
    // No skill of such a size was installed, so it need not be read.
    if (size > MAX_BYTES || (await digestOf(join(folder, path))) !== files[path])
      return `${plainName(path)} was changed since it was installed`
  }
  const gone = Object.keys(files).find((path) => !found.some((one) => one.path === path))
  return gone === undefined ? null : `${plainName(gone)} was removed since it was installed`
}

/** Whether what the lock has under a name is an entry. Its folder is read, and removed: it lies in the directory of the lock. */
function isEntry(name: string, value: unknown): value is InstalledSkill & JsonObject {
  if (!isJsonObject(value) || !isSkillHead(value['head']) || value['head'].name !== name) return false
  const { from, pin, installedAtMs, folder, files, findings, pack } = value
  return (
    (pack === undefined || isMark(pack)) &&
    typeof from === 'string' &&
    (pin === null || typeof pin === 'string') &&
    typeof installedAtMs === 'number' &&
    typeof folder === 'string' &&
    /^[a-z0-9-]+@[0-9a-f]{12}$/.test(folder) &&
    isJsonObject(files) &&
    Object.values(files).every((digest) => typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest)) &&
    isTexts(findings)
  )
}

const isMark = (value: unknown) =>
  isJsonObject(value) && ['name', 'version', 'sha256'].every((key) => typeof value[key] === 'string')

/** SHA-256 of a file, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  return sha256(await readFile(file))
}

/** A path for a message; one that could hold sentences is only called a file. */
export const plainName = (path: string): string => (/^[\w./-]{1,100}$/.test(path) ? path : 'a file')

/** In hexadecimal. */
export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/**
 * The files of a folder with their facts, sorted by path.
 * @throws HermesError `skills.not_plain` for a link, a device or too many files.
 */
export async function filesOf(
  folder: string,
): Promise<readonly { readonly path: string; readonly size: number; readonly mode: number; readonly state: string }[]> {
  if (!(await lstat(folder)).isDirectory()) throw notPlain('its folder is a link')
  const found: { path: string; size: number; mode: number; state: string }[] = []
  const collect = async (below: string): Promise<void> => {
    for (const name of (await readdir(join(folder, below))).sort()) {
      const path = below === '' ? name : `${below}/${name}`
      const info = await lstat(join(folder, path))
      if (info.isDirectory()) await collect(path)
      else if (!info.isFile())
        throw notPlain(`${path.slice(0, 100)} is a ${info.isSymbolicLink() ? 'link' : 'special file'}`)
      else found.push({ path, size: info.size, mode: info.mode, state: stateOf(info) })
      if (found.length > MAX_FILES) throw notPlain(`it has more than ${MAX_FILES} files`)
    }
  }
  await collect('')
  return found
}

const notPlain = (why: string) => new HermesError(why, { code: 'skills.not_plain' })
const badLock = (file: string) =>
  new HermesError(
    `Installed skills are not loaded: ${file} is damaged. Install them again, or put back a copy of it.`,
    {
      code: 'skills.bad_lock',
    },
  )
