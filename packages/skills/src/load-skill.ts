import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import { bundledBody } from './bundled.js'
import { readSkill } from './format/read-skill.js'
import { SKILL_FILE, type Skill } from './format/skill.js'
import { renderSkill } from './format/write-skill.js'
import { plainName, sha256 } from './install/lock.js'
import type { SkillLibrary } from './skill-library.js'

const MAX_LISTED = 100
const MAX_DEPTH = 4
const MAX_FILE_BYTES = 1_048_576

/** What a skill says now. */
interface LoadedText {
  readonly text: string
  /** Where it came from; `null` for what is the person's own, or comes with Hermes. */
  readonly sources: readonly TextSource[] | null
  /** What a reader should know of it first, a line each. */
  readonly notes: readonly string[]
}

/** A skill with the files beside it. */
export interface LoadedSkill extends LoadedText {
  /** Where it lies now, absolute; `null` for one that comes with Hermes. */
  readonly folder: string | null
  /** Paths in the skill, without SKILL.md. */
  readonly files: readonly string[]
}

/**
 * Reads what a skill says, as it is now: nothing of it is taken from the index.
 * @throws HermesError `skills.not_loaded`, one line that says why and what to do.
 */
export async function loadSkill(skill: Skill, library: SkillLibrary): Promise<LoadedSkill> {
  const { name } = skill
  if (skill.folder === null) {
    const body = await bundledBody(name)
    if (body === null) throw notLoaded(name, 'it is no skill of Hermes any more')
    return { text: body, sources: null, notes: [], folder: null, files: [] }
  }
  const place = await placeOf(skill, library)
  const { folder } = place
  const real = await fileIn(skill, place, SKILL_FILE)
  if (real === null)
    throw notLoaded(name, `${join(folder, SKILL_FILE)} is gone. Have the list made anew: /reload-skills`)
  const bytes = await agreedBytes(skill, place, real)
  const reading = readSkill(bytes, name, (await import('yaml')).default.parse)
  if (reading.type === 'broken') throw notLoaded(name, reading.why)
  const text = reading.body.replaceAll(/\$\{(?:HERMES|CLAUDE)_SKILL_DIR\}/g, () => folder)
  return { ...(await examined({ ...skill, folder }, text, SKILL_FILE)), folder, files: await linkedFiles(folder) }
}

/**
 * Reads a file beside SKILL.md.
 * @throws HermesError `skills.not_loaded`
 */
export async function loadSkillFile(skill: Skill, path: string, library: SkillLibrary): Promise<LoadedText> {
  const { name } = skill
  if (skill.folder === null) throw notLoaded(name, 'it has no files besides what it says')
  const place = await placeOf(skill, library)
  const real = await fileIn(skill, place, path)
  if (real === null) {
    const files = (await linkedFiles(place.folder)).filter((file) => plainName(file) === file)
    throw notLoaded(
      name,
      `it has no file ${path.slice(0, 100)}${files.length === 0 ? '' : `; it has ${files.join(', ')}`}`,
    )
  }
  const info = await stat(real)
  if (!info.isFile()) throw notLoaded(name, `${path.slice(0, 100)} is no file`)
  if (info.size > MAX_FILE_BYTES) throw notLoaded(name, `${path} has more than 1 MiB; read parts of ${real}`)
  const bytes = await agreedBytes(skill, place, real)
  if (bytes.includes(0)) throw notLoaded(name, `${path} is no text; it lies at ${real}`)
  return examined({ ...skill, folder: place.folder }, bytes.toString('utf8'), path)
}

/** A file of a skill. */
export interface SkillFile {
  /** In the skill, with slashes. */
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * Reads every file of a skill as it lies there, SKILL.md first: all of it by the rules by which parts are shown, or nothing.
 * @throws HermesError `skills.not_loaded`
 */
export async function loadSkillFiles(skill: Skill, library: SkillLibrary): Promise<readonly SkillFile[]> {
  const { name, description } = skill
  const file = (path: string, bytes: Uint8Array): SkillFile => ({ path, bytes })
  if (skill.folder === null) {
    const body = await bundledBody(name)
    if (body === null) throw notLoaded(name, 'it is no skill of Hermes any more')
    return [file(SKILL_FILE, Buffer.from(renderSkill({ name, description, body })))]
  }
  const place = await placeOf(skill, library)
  const files: SkillFile[] = []
  for (const path of [SKILL_FILE, ...(await linkedFiles(place.folder))]) {
    const real = await fileIn(skill, place, path)
    if (real === null) throw notLoaded(name, `its file ${path.slice(0, 100)} is gone`)
    if ((await stat(real)).size > MAX_FILE_BYTES) throw notLoaded(name, `${path.slice(0, 100)} has more than 1 MiB`)
    const bytes = await agreedBytes(skill, place, real)
    if (!bytes.includes(0)) await examined({ ...skill, folder: place.folder }, bytes.toString('utf8'), path)
    files.push(file(path, bytes))
  }
  return files
}

/** Where a skill lies now. */
interface Place {
  readonly folder: string
  /** SHA-256 by path of what was agreed to; `null` where nobody agreed to files one by one. */
  readonly agreed: Readonly<Record<string, string>> | null
}

/** One that was installed is looked at whole, whatever part of it is read; one of a project only while the person trusts that as it is. */
async function placeOf({ name, source, folder, origin }: Skill, { lock, home }: SkillLibrary): Promise<Place> {
  if (source === 'installed') {
    const entry = (await lock.read())[name]
    const problem = entry ? await lock.problemOf(name, entry) : `Skill ${name} is not installed any more.`
    if (!entry || problem !== null)
      throw new HermesError(problem ?? `Skill ${name} is gone.`, { code: 'skills.not_loaded' })
    return { folder: join(lock.directory, entry.folder), agreed: entry.files }
  }
  if (source === 'project' && !(await home.trust.isTrusted(folder!)))
    throw notLoaded(name, `its project is not trusted as it is. To trust it: hermes trust add ${folder}`)
  if (source === 'plugin' && !(await home.ofPlugins()).some(({ plugin }) => plugin === origin))
    throw notLoaded(name, `its plugin ${origin} is not as you agreed to it. Look: hermes plugins doctor`)
  return { folder: folder!, agreed: null }
}

/** The file without links; `null` where there is none. */
async function fileIn({ name, source }: Skill, { folder }: Place, path: string): Promise<string | null> {
  const real = await realpath(join(folder, path)).catch(() => null)
  if (real === null) return null
  // Who keeps files of their own elsewhere has links to them.
  if (source === 'user' && path === SKILL_FILE) return real
  const parts = relative(await realpath(folder), real).split(sep)
  if (parts[0] === '..' || isAbsolute(parts[0]!)) throw notLoaded(name, `${path.slice(0, 100)} leads out of the skill`)
  // Who trusts a project has agreed to what lies where a skill has files, and nowhere else.
  if (source === 'project' && (parts.length > MAX_DEPTH || parts.includes('node_modules')))
    throw notLoaded(name, `${path.slice(0, 100)} lies where trust in a project does not reach`)
  return real
}

/** What a file holds, read once, so that what is checked is what is shown. */
async function agreedBytes({ name }: Skill, { folder, agreed }: Place, real: string): Promise<Buffer> {
  const bytes = await readFile(real).catch((error: unknown) => {
    throw notLoaded(name, `a file of it cannot be read (${errorLine(error)})`)
  })
  const path = relative(await realpath(folder), real).replaceAll(sep, '/')
  if (agreed !== null && agreed[path] !== sha256(bytes))
    throw notLoaded(
      name,
      `${plainName(path)} was changed since it was installed. Get it again: hermes skills update ${name}`,
    )
  return bytes
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
    case 'plugin':
      return [{ type: 'web', name: `the skill ${name} of the plugin ${origin}` }]
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
