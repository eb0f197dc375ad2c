// What `/skills` does with skills of others.

import { join } from 'node:path'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { PER_PAGE } from '../install/hub.js'
import type { OfferedSkill, SkillInstaller } from '../install/installer.js'
import type { InstalledSkill } from '../install/lock.js'
import { shownPath } from '../install/plain.js'
import { scanSkill } from '../install/scan-skill.js'
import { searchSkills } from '../install/search.js'
import { sourceTrust } from '../install/source-trust.js'
import { type PackInstaller, packName } from '../packs/pack-installer.js'
import type { SkillLibrary } from '../skill-library.js'
import { factsOf, question } from './offers.js'
import { installPack } from './packs-command.js'

interface Parts {
  readonly library: SkillLibrary
  readonly installer: SkillInstaller
  readonly packs: PackInstaller
}

/** Fetches a source, and shows what it is; it waits for a yes. */
export async function install(
  from: string,
  args: JsonObject,
  context: CommandContext,
  parts: Parts,
  expected?: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const pack = packName(from)
  if (pack !== null) return installPack(pack, args, context, parts)
  const [{ cwd, signal }, { installer }] = [context, parts]
  const id = args['id']
  const offer = await installer.offer(from, {
    ...{ cwd, signal },
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(expected === undefined ? {} : { expected }),
  })
  switch (offer.type) {
    case 'several': {
      const rows = offer.skills.map(({ name, from: one }) => ({
        cells: [shownPath(name), one === '' ? UNNAMEABLE : `hermes skills install ${one}`],
        data: { name, from: one },
      }))
      return [say('There are several skills in it. Name one:'), { type: 'table', rows, empty: '' }]
    }
    case 'same':
      return say(`${offer.name} is installed as it is there.`)
    case 'one':
      // What nobody may install need not wait for anybody.
      if (isBlocked(offer.offered)) await installer.discard(offer.offered.id)
      return shown(offer.offered, trustedIn(parts), args)
    default:
      return offer satisfies never
  }
}

const UNNAMEABLE = 'cannot be installed alone: git cannot get it, or its name is more than a word in a command'

const isBlocked = ({ scanned }: OfferedSkill) => scanned.findings.some(({ severity }) => severity === 'blocked')

const trustedIn = ({ library }: Parts) => library.home.settings.trusted_sources

function shown(offered: OfferedSkill, trusted: readonly string[], args: JsonObject): readonly CommandOutput[] {
  const { id, name } = offered
  const { text, isRisky } = factsOf(offered, trusted)
  if (isBlocked(offered)) return [say(text), { type: 'text', text: `${name} is not installed.`, isProblem: true }]
  return [say(text), ...question(name, id, isRisky, args)]
}

/** Puts what was shown in place. */
export async function accept(id: string, args: JsonObject, parts: Parts): Promise<CommandResult> {
  const { library, installer, packs } = parts
  const force = args['force'] === true
  const pack = await packs.accept(id, { force })
  if (pack !== null) return say(`Installed the pack ${pack.name} ${pack.version}. New sessions know its skills.`)
  const { name } = await installer.accept(id, { force })
  const first = (await library.index(library.home.cwd)).skills.get(name)
  const hidden = first !== undefined && first.source !== 'installed'
  return say(
    hidden
      ? `Installed ${name}, but the ${first.source} skill of that name counts before it.`
      : `Installed ${name}. New sessions know it; here: /skill ${name}`,
  )
}

/** Takes a skill or a pack away. */
export async function uninstall(name: string, { installer, packs }: Parts): Promise<CommandResult> {
  const pack = packName(name)
  if (pack === null) await installer.uninstall(name)
  else return say(`Took the pack ${pack} away: ${(await packs.uninstall(pack)).join(', ')}.`)
  return say(`Took ${name} away.`)
}

/** Looks whether installed skills are as they were agreed to, and scans them anew. */
export async function audit(parts: Parts): Promise<CommandResult> {
  const { lock } = parts.library
  const findings = await Promise.all(
    Object.entries(await lock.read()).map(async ([name, entry]) => {
      const problem = await lock.problemOf(name, entry)
      if (problem !== null) return [{ level: 'fail', text: problem } as const]
      const scanned = await scanSkill(join(lock.directory, entry.folder), name)
      const fresh = scanned.findings.filter(
        ({ severity, text }) => severity !== 'note' && !entry.findings.includes(text),
      )
      const of = entry.pack === undefined ? '' : ` of the pack ${entry.pack.name} ${entry.pack.version}`
      const at = `${name}${of} from ${entry.from}${entry.pin === null ? '' : ` at ${entry.pin.slice(0, 12)}`}`
      return [
        {
          level: 'ok',
          text: `${at}, ${sourceTrust(entry.from, trustedIn(parts))}: as it was installed, ${Object.keys(entry.files).length} files`,
        } as const,
        ...fresh.map(({ text }) => ({ level: 'warn', text: `${name}: ${text}` }) as const),
      ]
    }),
  )
  const all = findings.flat()
  return all.length === 0
    ? say('No skill is installed. To install one: hermes skills install SOURCE')
    : { type: 'findings', findings: all }
}

/** Fetches installed skills anew; what differs is shown and waits for a yes. */
export async function update(words: readonly string[], context: CommandContext, parts: Parts): Promise<CommandResult> {
  const all = await parts.library.lock.read()
  const names = words.length > 0 ? words : Object.keys(all)
  if (names.length === 0) return say('No skill is installed.')
  const outputs: CommandOutput[] = []
  for (const [from, name] of new Map(names.map((one) => [sourceOf(one, all), one]))) {
    try {
      outputs.push(...[await install(from, {}, context, parts)].flat())
    } catch (error) {
      if (!HermesError.isInstance(error)) throw error
      outputs.push({ type: 'text', text: `${name} stays as it is: ${error.message}`, isProblem: true })
    }
  }
  return outputs
}

/** What gets it anew; skills of a pack have its version, and come with it. */
function sourceOf(name: string, all: Readonly<Record<string, InstalledSkill>>): string {
  if (packName(name) !== null) return name
  const entry = all[name]
  if (!entry) throw new HermesError(`No skill ${name.slice(0, 64)} is installed.`, { code: 'skills.unknown' })
  return entry.pack === undefined ? entry.from : `pack:${entry.pack.name}`
}

/** Looks for skills of others. */
export async function search(
  words: readonly string[],
  args: JsonObject,
  { signal }: CommandContext,
  { library }: Parts,
): Promise<CommandResult> {
  const page = typeof args['page'] === 'number' ? args['page'] : 1
  const source = typeof args['source'] === 'string' ? { source: args['source'] } : {}
  const { fetch } = library.home
  const { found, total, note } = await searchSkills(words.join(' '), { ...source, fetch, signal, page })
  const rows = found.map(({ from, about, liked }) => ({ cells: [from, liked, about], data: { from, about, liked } }))
  const more =
    total > Math.max(found.length, page * PER_PAGE) ? [say(`${total} in all; more with --page ${page + 1}`)] : []
  return [{ type: 'table', rows, empty: 'Nothing was found.' }, ...more, ...(note === undefined ? [] : [say(note)])]
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
