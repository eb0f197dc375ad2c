import { randomBytes } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { OfferedSkill, SkillInstaller } from '../install/installer.js'
import type { PackMark } from '../install/lock.js'
import type { SkillLibrary } from '../skill-library.js'
import { fetchPack } from './fetch-pack.js'
import { badPack, compareVersions, type ListedSkill, type PackList } from './pack-list.js'
import { keepWaiting, waitingAt } from './waiting-pack.js'

/** A pack that waits for a person: it is installed whole or not at all. */
export interface OfferedPack {
  readonly id: string
  readonly list: PackList
  readonly key: string
  /** The version that is installed. */
  readonly before: string | null
  /** What comes or changes. */
  readonly offered: readonly OfferedSkill[]
  /** Skills of the installed version that are not in this one, which go. */
  readonly gone: readonly string[]
}

const PREFIX = 'pack:'

/** The name in `pack:NAME`; `null` for any other source. */
export const packName = (from: string): string | null => (from.startsWith(PREFIX) ? from.slice(PREFIX.length) : null)

/** Installs packs: lists of skills with one version that a key of config.yaml signed. */
export class PackInstaller {
  readonly #library: SkillLibrary
  readonly #installer: SkillInstaller

  constructor(library: SkillLibrary, installer: SkillInstaller) {
    this.#library = library
    this.#installer = installer
  }

  /**
   * Fetches a list and all that it names into quarantine; `null` where this is what is installed. `id`: default random.
   * @throws HermesError `skills.bad_pack`, and as {@link SkillInstaller.offer} does for one of its skills; nothing is left then.
   */
  async offer(
    name: string,
    { cwd, signal, id = randomBytes(3).toString('hex') }: Fetching & { readonly id?: string },
  ): Promise<OfferedPack | null> {
    const { list, sha256, key } = await fetchPack(name, { home: this.#library.home, signal })
    const installed = await this.installed(name)
    requireNewer(list, sha256, installed.mark)
    const offered: OfferedSkill[] = []
    try {
      for (const skill of list.skills) offered.push(...(await this.#offerOne(list, skill, { cwd, signal })))
      const gone = installed.names.filter((one) => !list.skills.some((skill) => skill.name === one))
      if (offered.length === 0 && installed.mark?.sha256 === sha256) return null
      const names = list.skills.map((skill) => skill.name)
      const ids = offered.map((one) => one.id)
      await keepWaiting(this.#installer.placeOf(id), { name, version: list.version, sha256, names, ids })
      return { id, list, key, before: installed.mark?.version ?? null, offered, gone }
    } catch (error) {
      for (const one of offered) await this.#installer.discard(one.id)
      throw error
    }
  }

  /** Puts a pack in place, all of it; `null` for an id that is none of a pack. Throws as {@link SkillInstaller.accept} does. */
  async accept(id: string, { force }: { readonly force: boolean }): Promise<PackMark | null> {
    const waits = await waitingAt(this.#installer.placeOf(id))
    if (waits === null) return null
    const { ids, names, ...mark } = waits
    // Another version may have been accepted while this one waited.
    requireNewer(mark, mark.sha256, (await this.installed(mark.name)).mark)
    await this.#installer.acceptAll(ids, { force, pack: { ...mark, names } })
    await this.#installer.discard(id)
    return mark
  }

  /** Forgets an offer, and all that it is of. */
  async discard(id: string): Promise<void> {
    for (const one of (await waitingAt(this.#installer.placeOf(id)))?.ids ?? []) await this.#installer.discard(one)
    await this.#installer.discard(id)
  }

  /** Takes all skills of a pack away; gives their names. @throws HermesError `skills.unknown` */
  async uninstall(name: string): Promise<readonly string[]> {
    const { names } = await this.installed(name)
    if (names.length === 0)
      throw new HermesError(`No pack ${name.slice(0, 64)} is installed. All that are: hermes skills packs`, {
        code: 'skills.unknown',
      })
    await this.#installer.uninstall(...names)
    return names
  }

  /** What of a pack is installed. Rejects with `skills.bad_lock`. */
  async installed(name: string): Promise<{ readonly mark: PackMark | null; readonly names: readonly string[] }> {
    const all = Object.entries(await this.#library.lock.read()).filter(([, { pack }]) => pack?.name === name)
    return { mark: all[0]?.[1].pack ?? null, names: all.map(([one]) => one) }
  }

  /** One skill of a list: what was signed, or nothing. */
  async #offerOne({ name }: PackList, skill: ListedSkill, fetching: Fetching): Promise<readonly OfferedSkill[]> {
    const offer = await this.#installer.offer(skill.from, { ...fetching, expected: skill.files })
    if (offer.type === 'several') throw badPack(name, `${skill.name} is not one skill where its list says`)
    const found = offer.type === 'same' ? offer.name : offer.offered.name
    const isOther = found !== skill.name || !offer.isExpected
    const blocked =
      offer.type === 'one' ? offer.offered.scanned.findings.find(({ severity }) => severity === 'blocked') : undefined
    if (!isOther && blocked === undefined) return offer.type === 'one' ? [offer.offered] : []
    if (offer.type === 'one') await this.#installer.discard(offer.offered.id)
    throw badPack(name, isOther ? `${skill.name} is not what its list signs` : `${skill.name}: ${blocked!.text}`)
  }
}

interface Fetching {
  readonly cwd: string
  readonly signal: AbortSignal
}

/** An old list is signed as well as a new one: nobody can have an older version installed by handing it out again. */
function requireNewer(
  { name, version }: Pick<PackList, 'name' | 'version'>,
  sha256: string,
  mark: PackMark | null,
): void {
  if (mark === null) return
  const order = compareVersions(version, mark.version)
  if (order < 0) throw badPack(name, `version ${version} is older than ${mark.version}, which is installed`)
  if (order === 0 && sha256 !== mark.sha256)
    throw badPack(name, `its list of ${version} is another one than that installed`)
}
