// `skills snapshot`: what is installed, as a list that another home can install from.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine, HermesError, isJsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import type { SkillInstaller } from '../install/installer.js'
import type { PackInstaller } from '../packs/pack-installer.js'
import { isListed, type ListedSkill } from '../packs/pack-list.js'
import type { SkillLibrary } from '../skill-library.js'
import { install } from './install-command.js'

interface Parts {
  readonly library: SkillLibrary
  readonly installer: SkillInstaller
  readonly packs: PackInstaller
}

const MAX_BYTES = 4_194_304
const USAGE = 'Use: hermes skills snapshot export, or hermes skills snapshot import FILE.'

/** Lists what is installed, or gets what a list names; that waits for a yes, one by one. */
export async function snapshot(
  [verb, file, ...more]: readonly string[],
  context: CommandContext,
  parts: Parts,
): Promise<CommandResult> {
  if (verb === 'export' && file === undefined) return exported(parts)
  if (verb === 'import' && file !== undefined && more.length === 0)
    return imported(await read(resolve(context.cwd, file)), context, parts)
  throw usage(USAGE)
}

async function exported({ library }: Parts): Promise<CommandResult> {
  const skills = Object.entries(await library.lock.read())
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { from, pin, files }]) => ({ name, from, pin, files }))
  return { type: 'text', text: JSON.stringify({ version: 1, skills }, null, 2) }
}

async function imported(
  skills: readonly ListedSkill[],
  context: CommandContext,
  parts: Parts,
): Promise<readonly CommandOutput[]> {
  const outputs: CommandOutput[] = []
  for (const { name, from, files } of skills) {
    try {
      outputs.push(...[await install(from, {}, context, parts, files)].flat())
    } catch (error) {
      if (!HermesError.isInstance(error)) throw error
      outputs.push({ type: 'text', text: `${name} is not installed: ${errorLine(error)}`, isProblem: true })
    }
  }
  return outputs.length > 0 ? outputs : [{ type: 'text', text: 'It lists no skills.' }]
}

async function read(file: string): Promise<readonly ListedSkill[]> {
  const bytes = await readFile(file).catch(() => {
    throw usage(`${file} cannot be read.`)
  })
  try {
    if (bytes.length > MAX_BYTES) throw new Error('too large')
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    const skills = isJsonObject(value) && value['version'] === 1 ? value['skills'] : null
    if (Array.isArray(skills) && skills.every(isListed)) return skills
  } catch {
    // Named below.
  }
  throw usage(`${file} is no list of skills as hermes skills snapshot export writes it.`)
}

const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })
