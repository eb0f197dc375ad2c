/**
 * Where a skill comes from, in the order in which names are settled: of two of one name the first one counts. `user`: the home's own; `shared`:
 * `~/.agents/skills`; `external`: `skills.external_dirs`; `plugin`: one that a person agreed to.
 */
export type SkillSource = 'user' | 'project' | 'shared' | 'external' | 'plugin' | 'installed' | 'bundled'

/** What a skill may do beyond showing text; it has none that it does not name. */
export type SkillCapability = 'network' | 'exec' | 'secrets'

/** What the head of a SKILL.md says, as far as Hermes goes by it. */
export interface SkillHead {
  /** `[a-z0-9-]`, at most 64 characters. */
  readonly name: string
  /** One line, at most 1,024 characters. */
  readonly description: string
  /** What it is listed under. Default `general`. */
  readonly group: string
  /** Operating systems it is for: `linux`, `macos`, `windows`. Empty: all. */
  readonly platforms: readonly string[]
  /** Variables that it needs. */
  readonly variables: readonly string[]
  /** Tools without which it is of no use. */
  readonly tools: readonly string[]
  readonly capabilities: readonly SkillCapability[]
}

/** Whether a value of a file that Hermes keeps is a head: such a file may be damaged, or have been edited by hand. */
export function isSkillHead(value: unknown): value is SkillHead {
  if (typeof value !== 'object' || value === null) return false
  const { name, description, group, ...lists } = value as Readonly<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    SKILL_NAME.test(name) &&
    typeof description === 'string' &&
    /^[^\n]{1,1024}$/.test(description) &&
    typeof group === 'string' &&
    ['platforms', 'variables', 'tools', 'capabilities'].every((key) => isTexts(lists[key]))
  )
}

/** Whether a value is a list of texts. */
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

/** What reading a SKILL.md came to. */
export type SkillReading =
  | { readonly type: 'skill'; readonly head: SkillHead; readonly body: string }
  /** One line without the path. */
  | { readonly type: 'broken'; readonly why: string }

/** A skill as the index has it. */
export interface Skill extends SkillHead {
  readonly source: SkillSource
  /** Its folder, absolute; `null` for one that comes with Hermes. */
  readonly folder: string | null
  /** Of an installed one: where it was got from; of one of a plugin: its name. */
  readonly origin?: string
  /** What the scanner says of its description, `null` for nothing; missing where it did not look yet. */
  readonly rule?: string | null
}

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md'
/** The largest SKILL.md that is read, in bytes. */
export const MAX_SKILL_BYTES = 256 * 1024

/** A name as the format wants it. */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/
