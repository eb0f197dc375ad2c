// `hermes skills packs`, and packs that are installed.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import type { OfferedPack, PackInstaller } from '../packs/pack-installer.js'
import { badPack, type ListedSkill, writePack } from '../packs/pack-list.js'
import type { SkillLibrary } from '../skill-library.js'
import { factsOf, question } from './offers.js'

interface Parts {
  readonly library: SkillLibrary
  readonly packs: PackInstaller
}

const USAGE = 'Use: hermes skills packs, or hermes skills packs create NAME VERSION KEYFILE [SKILL…].'

/** Lists packs, or signs one. */
export async function packsCommand(
  [verb = 'list', ...words]: readonly string[],
  { cwd }: CommandContext,
  parts: Parts,
): Promise<CommandResult> {
  if (verb === 'list' && words.length === 0) return list(parts)
  const [name, version, keyFile, ...skills] = words
  if (verb !== 'create' || name === undefined || version === undefined || keyFile === undefined)
    throw new HermesError(USAGE, { code: 'commands.usage' })
  const key = await readFile(resolve(cwd, keyFile), 'utf8').catch(() => {
    throw badPack(name, `${keyFile} cannot be read; to make a key: openssl genpkey -algorithm ed25519 -out ${keyFile}`)
  })
  const { text } = writePack({ name, version, skills: await listed(name, skills, parts) }, key)
  return say(text)
}

/** What stands in a new list: skills as they are installed here, all of them where none is named. */
async function listed(pack: string, names: readonly string[], { library }: Parts): Promise<readonly ListedSkill[]> {
  const all = await library.lock.read()
  const skills: ListedSkill[] = []
  for (const name of names.length > 0 ? names : Object.keys(all).sort()) {
    const entry = all[name]
    if (!entry) throw badPack(pack, `no skill ${name.slice(0, 64)} is installed here, so nothing says what it is`)
    const problem = await library.lock.problemOf(name, entry)
    if (problem !== null) throw badPack(pack, problem.replace(/\.$/, ''))
    skills.push({ name, from: entry.from, files: entry.files })
  }
  return skills
}

async function list({ library, packs }: Parts): Promise<CommandResult> {
  const settings = library.home.settings.packs
  const of = Object.values(await library.lock.read()).flatMap(({ pack }) => (pack === undefined ? [] : [pack.name]))
  const rows = await Promise.all(
    [...new Set([...Object.keys(settings), ...of])].sort().map(async (name) => {
      const { mark, names } = await packs.installed(name)
      const from = settings[name]?.from ?? 'not in config.yaml any more'
      const cells = [name, mark?.version ?? 'not installed', names.join(', '), from]
      return { cells, data: { name, version: mark?.version ?? null, skills: names, from } }
    }),
  )
  return {
    type: 'table',
    rows,
    empty: 'No pack is known. One is two keys of config.yaml: skills.packs.NAME.from and .key',
  }
}

/** Fetches a pack and shows all of it; it waits for one yes. */
export async function installPack(
  name: string,
  args: JsonObject,
  { cwd, signal }: CommandContext,
  { packs, library }: Parts,
): Promise<CommandResult> {
  const id = args['id']
  const offer = await packs.offer(name, { cwd, signal, ...(typeof id === 'string' && id !== '' ? { id } : {}) })
  return offer === null
    ? say(`The pack ${name} is installed as it is there.`)
    : shown(offer, library.home.settings.trusted_sources, args)
}

function shown(
  { id, list, key, before, offered, gone }: OfferedPack,
  trusted: readonly string[],
  args: JsonObject,
): readonly CommandOutput[] {
  const facts = offered.map((one) => factsOf(one, trusted))
  const same = list.skills.length - offered.length
  const lines = [
    `the pack ${list.name} ${list.version}${before === null ? '' : `, of which ${before} is installed`}: ${list.skills.length} skill${list.skills.length === 1 ? '' : 's'}`,
    `signed by ${key}`,
    ...(same > 0 ? [`as they are installed: ${same}`] : []),
    ...(gone.length > 0 ? [`no longer in it, these go: ${gone.join(', ')}`] : []),
  ]
  return [
    say(lines.join('\n')),
    ...facts.map(({ text }) => say(text)),
    ...question(
      `the pack ${list.name}`,
      id,
      facts.some(({ isRisky }) => isRisky),
      args,
    ),
  ]
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
