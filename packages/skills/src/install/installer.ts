import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError, isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isTexts, SKILL_NAME } from '../format/skill.js'
import type { SkillLibrary } from '../skill-library.js'
import { fetchSkills } from './fetch-skill.js'
import type { InstalledSkill } from './lock.js'
import { type ScannedSkill, scanSkill } from './scan-skill.js'

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

/** What a source came to. */
export type Offer =
  | { readonly type: 'one'; readonly offered: OfferedSkill }
  /** There are several: each with what names it alone. */
  | { readonly type: 'several'; readonly skills: readonly { readonly name: string; readonly from: string }[] }
  /** What is installed is what is there. */
  | { readonly type: 'same'; readonly name: string }

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
   * @throws HermesError `skills.not_fetched`, `skills.not_plain`, `skills.taken`, `skills.unknown` for an id that is none; nothing is left then.
   */
  async offer(
    from: string,
    { cwd, signal, id = randomBytes(3).toString('hex'), expected }: OfferOptions,
  ): Promise<Offer> {
    const place = this.#placeOf(id)
    await this.#sweep()
    const { home, lock } = this.#library
    const fetched = await fetchSkills(from, { home, quarantine: this.#quarantine, cwd, signal })
    try {
      const [first, ...more] = fetched.skills
      if (more.length > 0 || !first?.folder)
        return { type: 'several', skills: fetched.skills.map(({ name, from: one }) => ({ name, from: one })) }
      const scanned = await scanSkill(first.folder, first.name)
      const { name } = scanned.head
      const installed = (await lock.read())[name] ?? null
      requireSource(name, first.from, installed)
      if (
        installed !== null &&
        sameFiles(installed.files, scanned.files) &&
        (await lock.problemOf(name, installed)) === null
      )
        return { type: 'same', name }
      const { pin } = fetched
      const warnings = [...swapped(installed, { pin, files: scanned.files }), ...unlike(expected, scanned.files)]
      const offered: OfferedSkill = { id, name, from: first.from, pin, scanned, installed, warnings }
      await rm(place, { recursive: true, force: true })
      await mkdir(place, { recursive: true, mode: 0o700 })
      await cp(first.folder, join(place, 'files'), { recursive: true, verbatimSymlinks: true })
      await writePrivate(join(place, 'offer.json'), `${JSON.stringify(offered)}\n`)
      return { type: 'one', offered }
    } finally {
      await fetched.discard()
    }
  }

  /**
   * Puts what was offered in place. `force`: although the scanner has found something.
   * @throws HermesError `skills.unknown`, `skills.blocked`, `skills.changed`, `skills.taken`, `files.not_writable`
   */
  async accept(id: string, { force }: { readonly force: boolean }): Promise<OfferedSkill> {
    const place = this.#placeOf(id)
    const text = await readFile(join(place, 'offer.json'), 'utf8').catch(() => null)
    if (text === null) throw waitsNot(id)
    const offered = offerIn(text)
    if (offered === null) throw waitsNot(id)
    const { name, from, pin, scanned, warnings } = offered
    // A kill after its files were moved, and before the lock was written, leaves the rest.
    if (!existsSync(join(place, 'files'))) throw waitsNot(id)
    const again = await scanSkill(join(place, 'files'), name)
    if (again.head.name !== name || !sameFiles(again.files, scanned.files))
      throw new HermesError(`${name} was changed after it was shown; fetch it again.`, { code: 'skills.changed' })
    const blocked = again.findings.filter(({ severity }) => severity === 'blocked')
    if (blocked.length > 0)
      throw new HermesError(`${name} is not installed: ${blocked.map((one) => one.text).join('; ')}.`, {
        code: 'skills.blocked',
      })
    if (!force && (warnings.length > 0 || again.findings.some(({ severity }) => severity === 'high')))
      throw new HermesError(`${name} is not installed without --force: the scanner has found something.`, {
        code: 'skills.blocked',
      })
    const { lock, home } = this.#library
    requireSource(name, from, (await lock.read())[name] ?? null)
    const folder = `${name}@${digestOf(scanned.files).slice(0, 12)}`
    await mkdir(lock.directory, { recursive: true, mode: 0o700 })
    // Nothing loads a folder that the lock does not name, so a kill leaves the skill as it was or as it is to be.
    await rm(join(lock.directory, folder), { recursive: true, force: true })
    await rename(join(place, 'files'), join(lock.directory, folder))
    let before: InstalledSkill | null = null
    await lock.set(
      name,
      {
        ...{ head: again.head, from, pin, folder, files: again.files },
        installedAtMs: home.clock.now(),
        findings: [...warnings, ...again.findings.map((one) => one.text)],
      },
      // Another one may have been accepted while this one waited.
      (there) => {
        requireSource(name, from, there)
        before = there
      },
    )
    const old = before as InstalledSkill | null
    if (old !== null && old.folder !== folder)
      await rm(join(lock.directory, old.folder), { recursive: true, force: true })
    await this.discard(id)
    this.#library.reload()
    return offered
  }

  /** Forgets what was offered. @throws HermesError `skills.unknown` for an id that is none */
  async discard(id: string): Promise<void> {
    await rm(this.#placeOf(id), { recursive: true, force: true })
  }

  /** Takes an installed skill away. @throws HermesError `skills.unknown` */
  async uninstall(name: string): Promise<void> {
    const { lock, usage } = this.#library
    if (!(await lock.has(name)))
      throw new HermesError(`No skill ${name.slice(0, 64)} is installed. All that are: hermes skills audit`, {
        code: 'skills.unknown',
      })
    // A damaged entry goes without its folder: that is swept once nothing names it.
    const entry = (await lock.read())[name]
    await lock.set(name, null)
    if (entry) await rm(join(lock.directory, entry.folder), { recursive: true, force: true })
    await usage.forget(name)
    this.#library.reload()
  }

  /** Nothing but an id names a folder of the quarantine: what is called by anything else would lie, and go, elsewhere. */
  #placeOf(id: string): string {
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

/** How a source is fetched. */
interface OfferOptions {
  readonly cwd: string
  readonly signal: AbortSignal
  /** Six hexadecimal digits that name the offer. Default: random. */
  readonly id?: string
  /** SHA-256 by path that it is to have. Default: any. */
  readonly expected?: Files
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

function unlike(expected: Files | undefined, files: Files): readonly string[] {
  return expected === undefined || sameFiles(expected, files) ? [] : ['it has other files than are listed for it']
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
