// What a skill that is about to be installed holds that a person should see first. A scanner only helps: what a skill may do is decided by the
// policy and the isolation.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { readSkill } from '../format/read-skill.js'
import { SKILL_FILE, type SkillHead } from '../format/skill.js'
import { actsIn } from './acts.js'
import { kindOf } from './file-kinds.js'
import { digestOf, filesOf } from './lock.js'
import { isPortable, shownPath } from './plain.js'

/** How bad a finding is. `blocked`: such a skill is not installed, whoever says yes. */
type Severity = 'blocked' | 'high' | 'note'

/** Something that was found. */
interface SkillFinding {
  readonly severity: Severity
  /** For a person, with file and line. */
  readonly text: string
}

/** A skill as it was fetched. */
export interface ScannedSkill {
  readonly head: SkillHead
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>
  readonly bytes: number
  readonly findings: readonly SkillFinding[]
}

const MAX_FILES = 50
const MAX_TOTAL_BYTES = 5_120 * 1024
/** What `skill_view` loads of a file at most. */
const MAX_TEXT_BYTES = 1_048_576

/**
 * Looks at every file of a skill.
 * @throws HermesError `skills.not_plain`, `skills.bad_skill` for what is no skill, or has links, too many or too large files.
 */
export async function scanSkill(folder: string, name: string): Promise<ScannedSkill> {
  const all = await filesOf(folder)
  const bytes = all.reduce((sum, { size }) => sum + size, 0)
  if (all.length > MAX_FILES) throw notPlain(`it has ${all.length} files, at most ${MAX_FILES}`)
  if (bytes > MAX_TOTAL_BYTES)
    throw notPlain(`it has ${Math.ceil(bytes / 1024)} KB, at most ${MAX_TOTAL_BYTES / 1024} KB`)
  const main = all.find(({ path }) => path === SKILL_FILE)
  if (!main) throw notPlain('it has no SKILL.md')
  const odd = all.find(({ path }) => path.split('/').some((part) => !isPortable(part)))
  if (odd) throw notPlain(`${shownPath(odd.path.slice(0, 100))} has a name that is another one on some machines`)
  const twins = Map.groupBy(all, ({ path }) => path.normalize('NFKC').toLowerCase())
  const twin = [...twins.values()].find((same) => same.length > 1)
  if (twin) throw notPlain(`${twin.map(({ path }) => path).join(' and ')} are one file on some machines`)
  const reading = readSkill(await readFile(join(folder, SKILL_FILE)), name, (await import('yaml')).default.parse)
  if (reading.type === 'broken') throw notPlain(reading.why)
  const findings: SkillFinding[] = [...(await findingsInHead(reading.head))]
  const files: Record<string, string> = {}
  for (const file of all) {
    files[file.path] = await digestOf(join(folder, file.path))
    findings.push(...(await findingsIn(folder, file)))
  }
  return { head: reading.head, files, bytes, findings }
}

/** What YAML wrote in escapes is looked at as the model would read it. */
async function findingsInHead(head: SkillHead): Promise<readonly SkillFinding[]> {
  const { scanContext } = await import('@hermes/safety/scan')
  return Object.entries(head).flatMap(([key, value]) => {
    const [finding] = scanContext(typeof value === 'string' ? value : value.join('\n'))
    return finding === undefined
      ? []
      : [
          {
            severity: 'blocked',
            text: `SKILL.md: its ${key} may try to take over the agent (${finding.rule})`,
          } as const,
        ]
  })
}

async function findingsIn(
  folder: string,
  { path, size, mode }: { readonly path: string; readonly size: number; readonly mode: number },
): Promise<readonly SkillFinding[]> {
  const found = (severity: Severity, text: string): SkillFinding => ({ severity, text: `${shownPath(path)}: ${text}` })
  const hidden = isHidden(path) ? [found('high', 'is hidden where files are listed')] : []
  return [...hidden, ...(await findingsInContent(folder, { path, size, mode }, found))]
}

/** What tools of a repository have there is known. */
const isHidden = (path: string): boolean =>
  path.split('/').some((part) => /^\.(?!git(?:ignore|attributes|keep|hub)$|editorconfig$|claude-plugin$)/.test(part))

async function findingsInContent(
  folder: string,
  { path, size, mode }: { readonly path: string; readonly size: number; readonly mode: number },
  found: (severity: Severity, text: string) => SkillFinding,
): Promise<readonly SkillFinding[]> {
  const content = await readFile(join(folder, path))
  const kind = kindOf(path, content)
  switch (kind) {
    case 'archive':
      return [found('blocked', 'an archive, whose contents nobody sees')]
    case 'program':
      return [found('blocked', 'a program that cannot be read')]
    case 'disguised':
      return [found('blocked', 'is called a picture and is none')]
    case 'data':
      return [found('high', 'is no text')]
    case 'picture':
      return []
    case 'text':
      break
    default:
      return kind satisfies never
  }
  if (size > MAX_TEXT_BYTES)
    return [found('blocked', `has ${Math.ceil(size / 1024)} KB of text, of which at most 1 MiB is looked at`)]
  const text = content.toString('utf8')
  const { scanContext } = await import('@hermes/safety/scan')
  const steering = scanContext(text).map(({ rule, line }) =>
    found('blocked', `line ${line} may try to take over the agent (${rule})`),
  )
  const acts = actsIn(text).map(({ what, line }) => found('high', `line ${line} ${what}`))
  const runs = (mode & 0o111) !== 0 || text.startsWith('#!') ? [found('note', 'a script')] : []
  return [...steering, ...acts, ...runs]
}

const notPlain = (why: string) => new HermesError(why, { code: 'skills.not_plain' })

/** Whether it says, without a full stop, why a folder is no skill that can be taken. */
export const isNotPlain = (error: unknown): error is HermesError =>
  HermesError.isInstance(error) && error.code === 'skills.not_plain'
