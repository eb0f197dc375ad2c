import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HermesError, isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isTexts, SKILL_NAME } from '../format/skill.js'
import type { SkillLibrary } from '../skill-library.js'
import { fetchSkills } from './fetch-skill.js'
import { keep } from './keep.js'
import type { InstalledSkill, PackMark } from './lock.js'
import { shownPath } from './plain.js'
import { isNotPlain, type ScannedSkill, scanSkill } from './scan-skill.js'
import { sourceTrust } from './source-trust.js'

/** A skill that was fetched and looked at, and waits for a person. */
export interface OfferedSkill {
  readonly id: string
  readonly name: string
  readonly from: string
  readonly pin: string | null
  readonly scanned: ScannedSkill
  /** What is installed under that name now. */
  readonly installed: InstalledSkill | null
  /** What is wrong with where it comes from: asked about as what the scanner finds. */
  readonly warnings: readonly string[]
}

/** What a source came to; `isExpected`: with the files that it was to have. */
export type Offer =
  | { readonly type: 'one'; readonly offered: OfferedSkill; readonly isExpected: boolean }
  /** There are several: each with what names it alone. */
  | { readonly type: 'several'; readonly skills: readonly { readonly name: string; readonly from: string }[] }
  /** What is installed is what is there. */
  | { readonly type: 'same'; readonly name: string; readonly isExpected: boolean }

const WAITS_MS = 86_400_000

/** Installs skills of others: fetched, looked at, shown, and put in place after a yes. Never anything in between. */
export class SkillInstaller {
  readonly #library: SkillLibrary
  readonly #quarantine: string

  constructor(library: SkillLibrary) {
    this.#library = library
    this.#quarantine = join(library.home.directory, '.hub', 'quarantine')
  }

  /**
   * Fetches a source into quarantine and looks at it.
   * @throws HermesError `skills.not_fetched`, `skills.not_plain`, `skills.taken`, `skills.unknown` for an id that is none, `skills.not_kept`; nothing is left then.
   */
  async offer(
    from: string,
    { cwd, signal, id = randomBytes(3).toString('hex'), expected }: OfferOptions,
  ): Promise<Offer> {
    const place = this.placeOf(id)
    await this.#sweep()
    const { home, lock } = this.#library
    const fetched = await fetchSkills(from, { home, quarantine: this.#quarantine, cwd, signal })
    try {
      const [first, ...more] = fetched.skills
      if (more.length > 0 || !first?.folder)
        return { type: 'several', skills: fetched.skills.map(({ name, from: one }) => ({ name, from: one })) }
      const scanned = await scanSkill(first.folder, first.name).catch((error: unknown) => {
        throw isNotPlain(error) ? notInstalled(first.name, error.message) : error
      })
      const { name } = scanned.head
      const installed = (await lock.read())[name] ?? null
      const isExpected = expected === undefined || sameFiles(expected, scanned.files)
      requireSource(name, first.from, installed)
      if (
        installed !== null &&
        sameFiles(installed.files, scanned.files) &&
        (await lock.problemOf(name, installed)) === null
      )
        return { type: 'same', name, isExpected }
      const { pin } = fetched
      const warnings = [
        ...swapped(installed, { pin, files: scanned.files }),
        ...(isExpected ? [] : ['it has other files than are listed for it']),
      ]
      const offered: OfferedSkill = { id, name, from: first.from, pin, scanned, installed, warnings }
      await keep(name, () => putAside(first.folder, place, offered))
      return { type: 'one', offered, isExpected }
    } finally {
      await fetched.discard()
    }
  }

  /**
   * Puts what was offered in place. `force`: although the scanner has found something.
   * @throws HermesError `skills.unknown`, `skills.blocked`, `skills.changed`, `skills.taken`, `skills.not_kept`, `files.not_writable`; what was installed
   * stays then, and what was offered waits on
   */
  async accept(id: string, { force }: { readonly force: boolean }): Promise<OfferedSkill> {
    const [offered] = await this.acceptAll([id], { force })
    return offered!
  }

  /** Puts all that was offered in place, or none of it, of a pack that takes the place of an older version of it. Throws as {@link accept} does. */
  async acceptAll(
    ids: readonly string[],
    { force, pack }: { readonly force: boolean; readonly pack?: PackMark & { readonly names: readonly string[] } },
  ): Promise<readonly OfferedSkill[]> {
    const { lock, home } = this.#library
    const ready = await Promise.all(ids.map((id) => this.#lookAgain(id, force)))
    const there = await lock.read()
    for (const { name, from } of ready) requireSource(name, from, there[name] ?? null)
    const { names = [], ...mark } = pack ?? {}
    const changes: Record<string, InstalledSkill | null> = pack === undefined ? {} : ofPack(there, pack)
    for (const { name, from, pin, scanned, warnings } of ready) {
      const folder = `${name}@${digestOf(scanned.files).slice(0, 12)}`
      changes[name] = {
        ...{ head: scanned.head, from, pin, folder, files: scanned.files },
        installedAtMs: home.clock.now(),
        findings: [...warnings, ...scanned.findings.map(({ text }) => text)],
        ...(names.includes(name) ? { pack: mark as PackMark } : {}),
      }
    }
    const before: InstalledSkill[] = []
    const putOne = async (name: string, entry: InstalledSkill | null) => {
      // Another one may have been accepted while this one waited.
      const next = changes[name]
      if (next) requireSource(name, next.from, entry)
      if (next?.folder === there[name]?.folder && entry?.folder !== next?.folder) throw changedMeanwhile(name)
      if (entry !== null && entry.folder !== next?.folder) before.push(entry)
      const offered = ready.find((one) => one.name === name)
      if (!next || !offered) return async () => undefined
      const folder = join(lock.directory, next.folder)
      await putInPlace(join(this.placeOf(offered.id), 'files'), folder)
      // One that the lock names already is whole now, whatever it was before.
      return async () => entry?.folder !== next.folder && rm(folder, { recursive: true, force: true })
    }
    await keep(ready.map(({ name }) => name).join(', '), () => lock.set(changes, putOne))
    // It is installed: what cannot be cleared away now goes with the next sweep.
    const gone = before.map(({ folder }) => join(lock.directory, folder))
    const answered = ready.map(({ id }) => this.placeOf(id))
    await Promise.allSettled([...gone, ...answered].map((path) => rm(path, { recursive: true, force: true })))
    this.#library.reload()
    for (const { name } of ready) home.onChange?.({ action: 'install', skill: name, by: 'person', sessionId: null })
    return ready
  }

  /** What was offered, if it is still what was shown and may be installed. */
  async #lookAgain(id: string, force: boolean): Promise<OfferedSkill> {
    const place = this.placeOf(id)
    const text = await readFile(join(place, 'offer.json'), 'utf8').catch(() => null)
    const offered = text === null ? null : offerIn(text)
    // A kill while what was answered is cleared away leaves a part of it.
    if (offered === null || !existsSync(join(place, 'files'))) throw waitsNot(id)
    const { name, scanned, warnings } = offered
    const again = await scanSkill(join(place, 'files'), name)
    if (again.head.name !== name || !sameFiles(again.files, scanned.files))
      throw new HermesError(`${name} was changed after it was shown; fetch it again.`, { code: 'skills.changed' })
    const blocked = again.findings.filter(({ severity }) => severity === 'blocked')
    if (blocked.length > 0)
      throw new HermesError(`${name} is not installed: ${blocked.map((one) => one.text).join('; ')}.`, {
        code: 'skills.blocked',
      })
    const found = again.findings.some(({ severity }) => severity === 'high')
    const isTrusted = sourceTrust(offered.from, this.#library.home.settings.trusted_sources) === 'trusted'
    if (!force && (warnings.length > 0 || (found && !isTrusted)))
      throw new HermesError(`${name} is not installed without --force: the scanner has found something.`, {
        code: 'skills.blocked',
      })
    return { ...offered, id, scanned: again }
  }

  /** Forgets what was offered. @throws HermesError `skills.unknown` for an id that is none */
  async discard(id: string): Promise<void> {
    await rm(this.placeOf(id), { recursive: true, force: true })
  }

  /** Takes installed skills away, all in one. @throws HermesError `skills.unknown` */
  async uninstall(...names: readonly string[]): Promise<void> {
    const { lock, usage } = this.#library
    for (const name of names)
      if (!(await lock.has(name)))
        throw new HermesError(`No skill ${name.slice(0, 64)} is installed. All that are: hermes skills audit`, {
          code: 'skills.unknown',
        })
    // A damaged entry goes without its folder: that is swept once nothing names it.
    const entries = await lock.read()
    await lock.set(Object.fromEntries(names.map((name) => [name, null])))
    for (const name of names) {
      const entry = entries[name]
      if (entry) await rm(join(lock.directory, entry.folder), { recursive: true, force: true })
      await usage.forget(name)
    }
    this.#library.reload()
    for (const name of names)
      this.#library.home.onChange?.({ action: 'uninstall', skill: name, by: 'person', sessionId: null })
  }

  /** Where what waits lies. Nothing but an id names a folder of the quarantine: what is called by anything else would lie, and go, elsewhere. */
  placeOf(id: string): string {
    if (!/^[0-9a-f]{6}$/.test(id)) throw waitsNot(id)
    return join(this.#quarantine, id)
  }

  /** What was offered and never answered goes after a day; so does what a kill left behind. */
  async #sweep(): Promise<void> {
    const {
      lock,
      home: { clock },
    } = this.#library
    for (const name of await readdir(this.#quarantine).catch(() => [])) {
      const info = await stat(join(this.#quarantine, name)).catch(() => null)
      if (info && clock.now() - info.mtimeMs > WAITS_MS)
        await rm(join(this.#quarantine, name), { recursive: true, force: true })
    }
    const known = new Set(Object.values(await lock.read()).map(({ folder }) => folder))
    for (const name of await readdir(lock.directory).catch(() => []))
      if (!known.has(name)) {
        const info = await stat(join(lock.directory, name)).catch(() => null)
        if (info && clock.now() - info.ctimeMs > WAITS_MS)
          await rm(join(lock.directory, name), { recursive: true, force: true })
      }
  }
}

/** Writes down what was offered, so that nothing else can be installed in its place. */
async function putAside(folder: string, place: string, offered: OfferedSkill): Promise<void> {
  try {
    await rm(place, { recursive: true, force: true })
    await mkdir(place, { recursive: true, mode: 0o700 })
    await cp(folder, join(place, 'files'), { recursive: true, verbatimSymlinks: true })
    await writePrivate(join(place, 'offer.json'), `${JSON.stringify(offered)}\n`)
  } catch (error) {
    await rm(place, { recursive: true, force: true })
    throw error
  }
}

/**
 * Nothing loads a folder that the lock does not name, so a kill leaves each skill as it was or as it is to be. What was offered is copied, so that it
 * can be accepted again where this, or what comes after it, fails.
 */
async function putInPlace(files: string, folder: string): Promise<void> {
  const copy = `${folder}.new`
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
    await rm(copy, { recursive: true, force: true })
    await cp(files, copy, { recursive: true, verbatimSymlinks: true })
    await rm(folder, { recursive: true, force: true })
    await rename(copy, folder)
  } catch (error) {
    await rm(copy, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

/** How a source is fetched. */
interface OfferOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  /** Six hexadecimal digits that name the offer. Default: random. */
  readonly id?: string
  /** SHA-256 by path that it is to have. Default: any. */
  readonly expected?: Files
}

/** Those of an older version of a pack: what the new one has no more goes, the rest is of the new one. */
function ofPack(
  there: Readonly<Record<string, InstalledSkill>>,
  { names, ...pack }: PackMark & { readonly names: readonly string[] },
): Record<string, InstalledSkill | null> {
  const older = Object.entries(there).filter(([, entry]) => entry.pack?.name === pack.name)
  return Object.fromEntries(older.map(([name, entry]) => [name, names.includes(name) ? { ...entry, pack } : null]))
}

function requireSource(name: string, from: string, installed: InstalledSkill | null): void {
  if (installed !== null && installed.from !== from)
    throw new HermesError(
      `There is an installed skill ${name} already, from ${installed.from}. Take it away first: hermes skills uninstall ${name}`,
      { code: 'skills.taken' },
    )
}

/** A source that calls other files the same version was changed behind people's backs, or lies. */
function swapped(
  installed: InstalledSkill | null,
  { pin, files }: { readonly pin: string | null; readonly files: Files },
): readonly string[] {
  if (installed === null || pin === null || installed.pin !== pin || sameFiles(installed.files, files)) return []
  return [`its source says that this is ${pin.slice(0, 40)}, which is installed, and gives other files`]
}

/** What a file of the quarantine says; `null` where it is damaged. */
function offerIn(text: string): OfferedSkill | null {
  try {
    const offer = JSON.parse(text) as OfferedSkill
    const { name, from, pin, scanned } = offer
    const isWhole = SKILL_NAME.test(name) && typeof from === 'string' && (pin === null || typeof pin === 'string')
    return isWhole && isJsonObject(scanned.files) && isTexts(offer.warnings) ? offer : null
  } catch {
    return null
  }
}

const notInstalled = (name: string, why: string) =>
  new HermesError(`The skill ${shownPath(name.slice(0, 64))} is not installed: ${why}.`, { code: 'skills.not_plain' })
const changedMeanwhile = (name: string) =>
  new HermesError(`Another process changed the skill ${name}; try again.`, { code: 'skills.changed' })
const waitsNot = (id: string) =>
  new HermesError(`No skill waits as ${id.slice(0, 40)}. Fetch it again: hermes skills install SOURCE`, {
    code: 'skills.unknown',
  })

type Files = Readonly<Record<string, string>>

const digestOf = (files: Files) =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(files).sort()))
    .digest('hex')
const sameFiles = (one: Files, other: Files) => digestOf(one) === digestOf(other)
