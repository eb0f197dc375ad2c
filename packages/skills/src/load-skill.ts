import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import { bundledBody } from './bundled.js'
import { readSkill } from './format/read-skill.js'
import { SKILL_FILE, type Skill } from './format/skill.js'
import type { SkillLock } from './install/lock.js'

const MAX_LISTED = 100
const MAX_DEPTH = 4
const MAX_FILE_BYTES = 1_048_576

/** What a skill says now. */
export interface LoadedText {
  readonly text: string
  /** Where it came from; `null` for what is the person's own, or comes with Hermes. */
  readonly sources: readonly TextSource[] | null
  /** What a reader should know of it first, a line each. */
  readonly notes: readonly string[]
}

/** A skill with the files beside it. */
export interface LoadedSkill extends LoadedText {
  /** Paths in the skill, without SKILL.md. */
  readonly files: readonly string[]
}

/**
 * Reads what a skill says, as it is now: nothing of it is taken from the index.
 * @throws HermesError `skills.not_loaded`, one line that says why and what to do.
 */
export async function loadSkill(skill: Skill, lock: SkillLock): Promise<LoadedSkill> {
  const { name, folder } = skill
  if (folder === null) {
    const body = await bundledBody(name)
    if (body === null) throw notLoaded(name, 'it is no skill of Hermes any more')
    return { text: body, sources: null, notes: [], files: [] }
  }
  await requireSound(skill, lock)
  const bytes = await readFile(join(folder, SKILL_FILE)).catch(() => null)
  if (bytes === null)
    throw notLoaded(name, `${join(folder, SKILL_FILE)} is gone. Have the list made anew: /reload-skills`)
  const reading = readSkill(bytes, name, (await import('yaml')).default.parse)
  if (reading.type === 'broken') throw notLoaded(name, reading.why)
  const text = reading.body.replaceAll(/\$\{(?:HERMES|CLAUDE)_SKILL_DIR\}/g, () => folder)
  return { ...(await examined(skill, text, SKILL_FILE)), files: await linkedFiles(folder) }
}

/**
 * Reads a file beside SKILL.md.
 * @throws HermesError `skills.not_loaded`
 */
export async function loadSkillFile(skill: Skill, path: string, lock: SkillLock): Promise<LoadedText> {
  const { name, folder } = skill
  if (folder === null) throw notLoaded(name, 'it has no files besides what it says')
  await requireSound(skill, lock)
  const real = await realpath(join(folder, path)).catch(() => null)
  if (real === null) {
    const files = await linkedFiles(folder)
    throw notLoaded(
      name,
      `it has no file ${path.slice(0, 100)}${files.length === 0 ? '' : `; it has ${files.join(', ')}`}`,
    )
  }
  const way = relative(await realpath(folder), real)
  if (way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep))
    throw notLoaded(name, `${path.slice(0, 100)} leads out of the skill`)
  const info = await stat(real)
  if (!info.isFile()) throw notLoaded(name, `${path.slice(0, 100)} is no file`)
  if (info.size > MAX_FILE_BYTES) throw notLoaded(name, `${path} has more than 1 MiB; read parts of ${real}`)
  const bytes = await readFile(real)
  if (bytes.includes(0)) throw notLoaded(name, `${path} is no text; it lies at ${real}`)
  return examined(skill, bytes.toString('utf8'), path)
}

/** A skill that was installed is looked at whole, whatever part of it is read. */
async function requireSound({ name, source }: Skill, lock: SkillLock): Promise<void> {
  if (source !== 'installed') return
  const entry = (await lock.read())[name]
  const problem = entry ? await lock.problemOf(name, entry) : `Skill ${name} is not installed any more.`
  if (problem !== null) throw new HermesError(problem, { code: 'skills.not_loaded' })
}

/** Text with where it is from. What may try to take over the agent is not loaded, unless it is the person's own or was agreed to. */
async function examined(skill: Skill, text: string, path: string): Promise<LoadedText> {
  const { name, source, folder } = skill
  const sources = sourcesOf(skill, path)
  if (source === 'installed') return { text, sources, notes: [] }
  const { scanContext } = await import('@hermes/safety/scan')
  const findings = scanContext(text)
  if (findings.length === 0) return { text, sources, notes: [] }
  const why = `it may try to take over the agent: ${findings.map(({ rule, line }) => `${rule} in line ${line} of ${path}`).join(', ')}`
  if (source !== 'user') throw notLoaded(name, `${why}. Look at ${folder}; tell the user`)
  const file: TextSource = { type: 'person', name: `the skill ${name}` }
  return { text, sources: [file], notes: [`Careful: ${why}.`] }
}

function sourcesOf({ name, source, folder, origin }: Skill, path: string): readonly TextSource[] | null {
  switch (source) {
    case 'user':
    case 'bundled':
      return null
    case 'installed':
      return [{ type: 'web', name: `the skill ${name} from ${origin}` }]
    case 'project':
    case 'shared':
    case 'external':
      return [{ type: 'file', path: join(folder!, path) }]
    default:
      return source satisfies never
  }
}

async function linkedFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = []
  const collect = async (below: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || files.length >= MAX_LISTED) continue
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && depth < MAX_DEPTH) await collect(path, depth + 1)
      else if (entry.isFile() && path !== SKILL_FILE) files.push(path)
    }
  }
  await collect('', 1)
  return files
}

const notLoaded = (name: string, why: string) =>
  new HermesError(`Skill ${name} is not loaded: ${why}.`, { code: 'skills.not_loaded' })
