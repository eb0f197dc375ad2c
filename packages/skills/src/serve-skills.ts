// Skills as other programs get them: whole, file by file, with the head as its author wrote it.
import { HermesError, isJsonObject, type JsonObject, type Logger } from '@hermes/contracts'
import { split } from './format/read-skill.js'
import type { Skill } from './format/skill.js'
import { loadSkillFiles, type SkillFile } from './load-skill.js'
import type { SkillLibrary } from './skill-library.js'

/** A skill for other programs. */
interface ServedSkill {
  readonly name: string
  /** The head of SKILL.md. */
  readonly frontmatter: JsonObject & { readonly name: string; readonly description: string }
  /** SKILL.md first. Secrets are taken out of what is text. */
  readonly files: readonly SkillFile[]
}

/** The skills that who works in a folder has, for other programs. */
export interface ServedSkills {
  /** Their names, in order. Never rejects. */
  names(): Promise<readonly string[]>
  /** One of them as it is now; `null` for one that is not there, may not be loaded, or whose head other programs do not take. */
  read(name: string): Promise<ServedSkill | null>
}

/** Serves the skills for `cwd`. Nothing is read before it is asked for. */
export function serveSkills(library: SkillLibrary, cwd: string): ServedSkills {
  return {
    names: async () => [...(await library.index(cwd)).skills.keys()].sort(),
    read: async (name) => {
      const skill = (await library.index(cwd)).skills.get(name)
      return skill === undefined ? null : readServed(skill, library, library.home.logger)
    },
  }
}

async function readServed(skill: Skill, library: SkillLibrary, logger: Logger): Promise<ServedSkill | null> {
  const { name } = skill
  try {
    const files = (await loadSkillFiles(skill, library)).map((file) => withoutSecrets(file, library))
    const { default: yaml } = await import('yaml')
    const parts = split(Buffer.from(files[0]!.bytes).toString('utf8').replace(/\r\n?/g, '\n'))
    const head: unknown =
      typeof parts === 'string' ? null : yaml.parse(parts.head, { maxAliasCount: 0, logLevel: 'error' })
    return isStrict(head, name) ? { name, frontmatter: head, files } : null
  } catch (error) {
    // A head that is nearly YAML is read here; other programs are not to guess at it.
    if (HermesError.isInstance(error) || (error as Error).name.startsWith('YAML')) {
      logger.debug('A skill is not served.', { skill: name, error: (error as Error).message })
      return null
    }
    throw error
  }
}

function isStrict(head: unknown, name: string): head is ServedSkill['frontmatter'] {
  return isJsonObject(head) && head['name'] === name && typeof head['description'] === 'string'
}

function withoutSecrets({ path, bytes }: SkillFile, { home }: SkillLibrary): SkillFile {
  const text = Buffer.from(bytes).toString('utf8')
  const clean = bytes.includes(0) ? text : home.redact(text)
  return { path, bytes: clean === text ? bytes : Buffer.from(clean) }
}
