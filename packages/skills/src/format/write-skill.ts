// What Hermes writes fits the specification to the letter, so that other agents and `skills-ref` take it.
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import type { ParseYaml } from './read-skill.js'
import { parseHead, split } from './read-skill.js'
import { SKILL_NAME, type SkillHead } from './skill.js'

const MAX_CHARS = 100_000
/** @see https://agentskills.io/specification, "Frontmatter" */
const KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
])

/** The text of a SKILL.md. `more`: other lines of its head. Default: none. */
export function renderSkill(skill: {
  readonly name: string
  readonly description: string
  readonly body: string
  readonly more?: readonly string[]
}): string {
  const head = [`name: ${skill.name}`, `description: ${JSON.stringify(skill.description)}`, ...(skill.more ?? [])]
  return `---\n${head.join('\n')}\n---\n\n${skill.body.trim()}\n`
}

/** What the head of a SKILL.md says beside name and description, as lines in the form that the specification wants. Pure; nothing for a head that cannot be read. */
export function otherHeadLines(text: string, known: SkillHead, parseYaml: ParseYaml): readonly string[] {
  const parts = split(text.replace(/\r\n?/g, '\n'))
  const head = typeof parts === 'string' ? parts : parseHead(parts.head, parseYaml)
  if (typeof head === 'string') return []
  const line = ([key, value]: readonly [string, unknown]) =>
    `${/^[A-Za-z][\w-]*$/.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`
  const plain = ['license', 'compatibility', 'allowed-tools'].flatMap((key) =>
    typeof head[key] === 'string' ? [line([key, head[key]])] : [],
  )
  const metadata = Object.entries(metadataOf(head, known)).map((entry) => `  ${line(entry)}`)
  return metadata.length === 0 ? plain : [...plain, 'metadata:', ...metadata]
}

/** Texts of it stay; what Hermes goes by is named as texts, wherever the old head had it. */
function metadataOf({ metadata }: JsonObject, known: SkillHead): Readonly<Record<string, string>> {
  const texts = Object.entries(isJsonObject(metadata) ? metadata : {}).flatMap(([key, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[key, String(value)] as const]
      : [],
  )
  const { group, platforms, variables, tools, capabilities } = known
  const lists = Object.entries({ platforms, variables, tools, capabilities }).flatMap(([key, words]) =>
    words.length > 0 ? [[`hermes-${key}`, [...new Set(words)].join(' ')] as const] : [],
  )
  const own = [...(group === 'general' ? [] : [['hermes-group', group] as const]), ...lists]
  return { ...Object.fromEntries(own), ...Object.fromEntries(texts) }
}

/**
 * Checks a SKILL.md that is about to be written.
 * @throws HermesError `skills.bad_skill`, one line that says what to change.
 */
export function requireStrict(text: string, name: string, parseYaml: ParseYaml): void {
  requireName(name)
  if (text.length > MAX_CHARS)
    throw bad(`it has ${text.length} characters, at most ${MAX_CHARS}; move parts into references/`)
  const parts = split(text.replace(/\r\n?/g, '\n'))
  if (typeof parts === 'string') throw bad(parts)
  if (parts.body.trim() === '') throw bad('it says nothing after its head')
  let head: unknown
  try {
    head = parseYaml(parts.head, { maxAliasCount: 0, logLevel: 'error' })
  } catch {
    throw bad('its head is no YAML; put the description in double quotes')
  }
  if (!isJsonObject(head)) throw bad('its head has no "name:" and "description:"')
  if (head['name'] !== name) throw bad(`its head must say "name: ${name}"`)
  const { description, compatibility, metadata } = head
  if (typeof description !== 'string' || description.trim() === '' || description.length > 1_024)
    throw bad('its head needs a "description:" of 1 to 1,024 characters: what it does and when to use it')
  if (compatibility !== undefined && (typeof compatibility !== 'string' || compatibility.length > 500))
    throw bad('"compatibility:" is a text of at most 500 characters')
  if (
    metadata !== undefined &&
    !(isJsonObject(metadata) && Object.values(metadata).every((value) => typeof value === 'string'))
  )
    throw bad('"metadata:" has texts only')
  const unknown = Object.keys(head).find((key) => !KEYS.has(key))
  if (unknown !== undefined) throw bad(`its head has no key "${unknown.slice(0, 40)}"; put it below "metadata:"`)
}

/** @throws HermesError `skills.bad_skill` */
export function requireName(name: string): void {
  if (!SKILL_NAME.test(name))
    throw bad(`"${name.slice(0, 70)}" is no name: lower case letters a to z, digits and single dashes, at most 64`)
}

const bad = (why: string) => new HermesError(`The skill cannot be written: ${why}.`, { code: 'skills.bad_skill' })
