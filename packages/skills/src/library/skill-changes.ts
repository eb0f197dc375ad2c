// What can be done to a skill of one's own, worked out before it is done, so that it can be shown and can wait.
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import type { ParseYaml } from '../format/read-skill.js'
import { SKILL_FILE, type Skill } from '../format/skill.js'
import { otherHeadLines, renderSkill, requireName, requireStrict } from '../format/write-skill.js'
import { findSkillFolders } from '../index/find-skill-folders.js'
import type { SkillIndex } from '../index/skill-index.js'
import { nearDuplicates } from './near-duplicates.js'

/** A change of a skill of one's own. */
export type SkillChange =
  | {
      readonly action: 'create'
      readonly name: string
      readonly description: string
      readonly content: string
      readonly force?: boolean
    }
  /** `content`: the whole SKILL.md, or what follows its head, which else stays. */
  | { readonly action: 'edit'; readonly name: string; readonly content: string; readonly description?: string }
  | {
      readonly action: 'patch'
      readonly name: string
      readonly path: string
      readonly oldText: string
      readonly newText: string
      readonly replaceAll: boolean
    }
  | { readonly action: 'delete'; readonly name: string }
  | { readonly action: 'write_file'; readonly name: string; readonly path: string; readonly content: string }
  | { readonly action: 'remove_file'; readonly name: string; readonly path: string }

/** What a change comes to, before it is made. */
export interface PlannedChange {
  readonly change: SkillChange
  readonly folder: string
  /** The file that becomes another one; the folder itself where all of it goes. Absolute. */
  readonly file: string
  /** `null` where there is none. */
  readonly before: string | null
  readonly after: string | null
  /** What in the new text may try to take over the agent. */
  readonly findings: readonly SkillTextFinding[]
}

/** A rule of the scanner and the line that breaks it, from 1. */
interface SkillTextFinding {
  readonly rule: string
  readonly line: number
}

/** What changes are worked out with. */
interface ChangeOptions {
  /** Where the home's own skills lie. */
  readonly directory: string
  readonly index: SkillIndex
  /** Takes registered secrets out of a text. */
  readonly redact: (text: string) => string
}

const MAX_FILE_CHARS = 1_048_576
const FILE_PATH = /^(?:references|templates|scripts|assets|examples)(?:\/[A-Za-z0-9][\w.-]*)+$/

/**
 * Works a change out: nothing is written. Who writes it has to look at its findings.
 * @throws HermesError `skills.bad_skill`, `skills.unknown`, `skills.not_own`, `skills.near_duplicate`: one line that says what to do instead.
 */
export async function planChange(change: SkillChange, options: ChangeOptions): Promise<PlannedChange> {
  const { name } = change
  requireName(name)
  const known = options.index.skills.get(name)
  const planned = change.action === 'create' ? await planCreate(change, known, options) : await planOther(change, known)
  if (planned.after !== null) {
    if (planned.file.endsWith(SKILL_FILE)) requireStrict(planned.after, name, (await import('yaml')).default.parse)
    requireNoSecret(planned.after, options)
  }
  return { ...planned, findings: await findingsIn(planned.after ?? '') }
}

type Draft = Omit<PlannedChange, 'findings'>

async function planCreate(
  change: SkillChange & { readonly action: 'create' },
  known: Skill | undefined,
  { directory, index }: ChangeOptions,
): Promise<Draft> {
  const { name, description, content, force = false } = change
  // One's own counts in place of one that comes with Hermes.
  if (known && known.source !== 'bundled')
    throw new HermesError(
      `There is a ${known.source} skill ${name} already${known.source === 'user' ? ': use edit or patch' : '; choose another name'}.`,
      { code: 'skills.bad_skill' },
    )
  const near = force ? [] : nearDuplicates({ name, description }, [...index.skills.values()])
  if (near.length > 0)
    throw new HermesError(
      `There is something like it: ${near.map(shownNear).join('; ')}. Load and extend that one; if this is another thing, create it with force (--force).`,
      { code: 'skills.near_duplicate' },
    )
  const folder = join(directory, name)
  await requireFree(folder)
  const isWhole = /^\s*---\s*\n/.test(content)
  const after = isWhole ? content : renderSkill({ name, description, body: content })
  return { change, folder, file: join(folder, SKILL_FILE), before: null, after }
}

/** What others say of a skill stays out of what comes without a mark of where it is from. */
function shownNear({ name, source, description }: Skill): string {
  const isOwn = source === 'user' || source === 'bundled'
  return `${name} (${source})${isOwn ? `: ${description.slice(0, 100).replace(/\.$/, '')}` : ''}`
}

/** A SKILL.md hides the skills below it, and one that the index leaves out is not written over. */
async function requireFree(folder: string): Promise<void> {
  // What cannot be looked into is named when it is written to.
  const names: readonly string[] = await readdir(folder).catch(() => [])
  if (names.length === 0) return
  const why = names.includes(SKILL_FILE)
    ? 'has a SKILL.md that is broken, switched off or for another system. Mend it, or move the folder away'
    : findSkillFolders(folder).length > 0
      ? 'is a group of skills. Choose another name'
      : 'is there and is no skill. Choose another name, or move it away'
  throw new HermesError(`${folder} ${why}.`, { code: 'skills.bad_skill' })
}

async function planOther(
  change: Exclude<SkillChange, { readonly action: 'create' }>,
  known: Skill | undefined,
): Promise<Draft> {
  const { name } = change
  if (!known) throw new HermesError(`There is no skill ${name}; skills_list shows all.`, { code: 'skills.unknown' })
  const { folder, source } = known
  if (source !== 'user' || folder === null)
    throw new HermesError(
      `${name} is a ${source} skill, and only the user's own change.${source === 'bundled' ? ' Create one of that name: it counts in its place.' : ''}`,
      { code: 'skills.not_own' },
    )
  const main = join(folder, SKILL_FILE)
  switch (change.action) {
    case 'edit': {
      const before = await mainText(known)
      const { parse } = (await import('yaml')).default
      return { change, folder, file: main, before, after: edited(change, known, { before, parse }) }
    }
    case 'patch': {
      const file = change.path === SKILL_FILE ? main : fileIn(folder, change.path)
      const before = await readFile(file, 'utf8').catch(() => null)
      if (before === null) throw new HermesError(`${name} has no file ${change.path}.`, { code: 'skills.unknown' })
      return { change, folder, file, before, after: patched(before, change, file === main) }
    }
    case 'delete': {
      const below = findSkillFolders(folder).length
      if (below > 0)
        throw new HermesError(
          `${name} is not deleted: ${folder} holds ${below} other skill${below === 1 ? '' : 's'}, which would go along. Move ${below === 1 ? 'it' : 'them'} first.`,
          { code: 'skills.bad_skill' },
        )
      return { change, folder, file: folder, before: await mainText(known), after: null }
    }
    case 'write_file': {
      const file = fileIn(folder, change.path)
      if (change.content.length > MAX_FILE_CHARS)
        throw new HermesError(`${change.path} has more than 1 MiB.`, { code: 'skills.bad_skill' })
      return { change, folder, file, before: await readFile(file, 'utf8').catch(() => null), after: change.content }
    }
    case 'remove_file': {
      const file = fileIn(folder, change.path)
      const before = await readFile(file, 'utf8').catch(() => null)
      if (before === null) throw new HermesError(`${name} has no file ${change.path}.`, { code: 'skills.unknown' })
      return { change, folder, file, before, after: null }
    }
    default:
      return change satisfies never
  }
}

async function mainText({ name, folder }: Skill): Promise<string> {
  return readFile(join(folder!, SKILL_FILE), 'utf8').catch(() => {
    throw new HermesError(`${name} has no ${SKILL_FILE} any more; skills_list shows all.`, { code: 'skills.unknown' })
  })
}

function edited(
  { content, name, description }: SkillChange & { readonly action: 'edit' },
  known: Skill,
  { before, parse }: { readonly before: string; readonly parse: ParseYaml },
): string {
  if (/^\s*---\s*\n/.test(content)) return content.replace(/\r\n?/g, '\n')
  const more = otherHeadLines(before, known, parse)
  return renderSkill({ name, description: description ?? known.description, body: content, more })
}

/** A model is shown every line end as one letter, and gives it so. A SKILL.md is written so too; another file keeps what its lines end with. */
function patched(
  before: string,
  { oldText, newText, replaceAll }: SkillChange & { readonly action: 'patch' },
  isMain: boolean,
): string {
  const [text, old, replacement] = [before, oldText, newText].map((one) => one.replace(/\r\n?/g, '\n')) as [
    string,
    string,
    string,
  ]
  const count = old === '' ? 0 : text.split(old).length - 1
  if (count === 1 || (count > 1 && replaceAll)) {
    const after = text.split(old).join(replacement)
    return !isMain && before.includes('\r\n') ? after.replaceAll('\n', '\r\n') : after
  }
  const why =
    count === 0
      ? `the old text is not there. It begins: ${text.slice(0, 500)}`
      : `the old text is there ${count} times; give more of it, or replace_all`
  throw new HermesError(`Nothing was changed: ${why}`, { code: 'skills.bad_skill' })
}

function fileIn(folder: string, path: string): string {
  if (FILE_PATH.test(path) && !path.includes('..')) return join(folder, path)
  throw new HermesError(
    `"${path.slice(0, 100)}" is no place for a file of a skill: references/, templates/, scripts/, assets/ or examples/, then a plain name.`,
    { code: 'skills.bad_skill' },
  )
}

function requireNoSecret(text: string, { redact }: ChangeOptions): void {
  if (redact(text) !== text)
    throw new HermesError('The skill cannot be written: it holds a secret. Name the variable that has it instead.', {
      code: 'skills.bad_skill',
    })
}

async function findingsIn(text: string): Promise<readonly SkillTextFinding[]> {
  const { scanContext } = await import('@hermes/safety/scan')
  return scanContext(text).map(({ rule, line }) => ({ rule, line }))
}

/** What was found in a text, for a person and the model: one line without a full stop. Pure. */
export function shownFindings(findings: readonly SkillTextFinding[]): string {
  const lines = findings.slice(0, 3).map(({ rule, line }) => `line ${line} (${rule})`)
  return `what may be an order to take over the agent: ${lines.join(', ')}`
}

/**
 * Makes a change that was worked out. What goes is kept in `.archive` of the skills; gives where, or `null`.
 * @throws HermesError `files.not_writable`, `skills.changed` where the file is another one by now.
 */
export async function makeChange(
  { change, folder, file, before, after }: PlannedChange,
  { directory, nowMs }: { readonly directory: string; readonly nowMs: number },
): Promise<string | null> {
  const current = change.action === 'delete' ? before : await readFile(file, 'utf8').catch(() => null)
  if (current !== before)
    throw new HermesError(`${file} was changed meanwhile; look at it again.`, { code: 'skills.changed' })
  if (after !== null) {
    await writePrivate(file, after)
    return null
  }
  if (change.action !== 'delete') {
    await rm(file)
    return null
  }
  const kept = join(directory, '.archive', `${change.name}-${nowMs}`)
  await mkdir(dirname(kept), { recursive: true, mode: 0o700 })
  await rename(folder, kept)
  return kept
}
