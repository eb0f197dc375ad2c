// Reads a SKILL.md as it comes: keys nobody knows, line ends of Windows, byte order marks and YAML that is nearly right.
// @see https://agentskills.io/specification
import { errorLine, isJsonObject, type JsonObject } from '@hermes/contracts'
import type { parse } from 'yaml'
import { MAX_SKILL_BYTES, SKILL_NAME, type SkillCapability, type SkillHead, type SkillReading } from './skill.js'

/** The part of `yaml` that is used. */
export type ParseYaml = typeof parse

const MAX_DESCRIPTION = 1_024
const VARIABLE = /^[A-Za-z_]\w{0,63}$/
const TOOL = /^[\w.:-]{1,64}$/
/** Platform names of Node, and of the reference. */
const OS_NAMES: Readonly<Record<string, string>> = {
  darwin: 'macos',
  mac: 'macos',
  osx: 'macos',
  win32: 'windows',
  win: 'windows',
}

/** Reads the text of a SKILL.md. `folderName` stands in for a name that is missing. Pure; never throws. */
export function readSkill(bytes: Uint8Array, folderName: string, parseYaml: ParseYaml): SkillReading {
  if (bytes.length > MAX_SKILL_BYTES)
    return broken(`SKILL.md has ${Math.ceil(bytes.length / 1024)} KB; at most ${MAX_SKILL_BYTES / 1024} KB are read`)
  const text = decode(bytes)
  if (text === null) return broken('SKILL.md is no UTF-8 text')
  const parts = split(text)
  if (typeof parts === 'string') return broken(parts)
  const values = parseHead(parts.head, parseYaml)
  if (typeof values === 'string') return broken(values)
  const head = toHead(values, folderName)
  if (typeof head === 'string') return broken(head)
  return parts.body.trim() === ''
    ? broken('SKILL.md says nothing after its head')
    : { type: 'skill', head, body: parts.body }
}

const broken = (why: string): SkillReading => ({ type: 'broken', why })

function decode(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text.replace(/\r\n?/g, '\n')
  } catch {
    return null
  }
}

/** The head between its two lines of dashes, and what follows; a text says what is wrong. */
export function split(text: string): { readonly head: string; readonly body: string } | string {
  const open = /^\s*---[ \t]*\n/.exec(text)
  if (!open) return 'SKILL.md does not begin with a head between two lines of "---"'
  const rest = text.slice(open[0].length)
  const close = /(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(rest)
  if (!close) return 'the head of SKILL.md is not closed by a line of "---"'
  return { head: rest.slice(0, close.index), body: rest.slice(close.index + close[0].length).replace(/^\n+/, '') }
}

const PLAIN_LINE = /^([\w-]+):[ \t]+([A-Za-z][^#:"'\n]*[^#:"'\s])[ \t]*$/
/** Words that YAML reads as something else than a text. */
const NO_TEXT = /^(?:true|false|null|yes|no|on|off)$/i

/** The keys of a head; a text says what is wrong. */
export function parseHead(head: string, parseYaml: ParseYaml): JsonObject | string {
  const lines = head.split('\n').filter((line) => line.trim() !== '')
  const plain = lines.map((line) => PLAIN_LINE.exec(line))
  // Most heads are two plain lines, and five hundred of them are read at once.
  const keys = new Set(plain.map((match) => match?.[1]))
  if (keys.size === lines.length && plain.every((match) => match !== null && !NO_TEXT.test(match[2]!)))
    return Object.fromEntries(plain.map((match) => [match![1]!, match![2]!]))
  try {
    return asObject(parseYaml(head, { maxAliasCount: 0, logLevel: 'error' }))
  } catch (error) {
    try {
      return asObject(parseYaml(quoted(head), { maxAliasCount: 0, logLevel: 'error' }))
    } catch {
      return `the head of SKILL.md is no YAML: ${errorLine(error).split(' at line')[0]!.slice(0, 120)}`
    }
  }
}

function asObject(value: unknown): JsonObject | string {
  return isJsonObject(value) ? value : 'the head of SKILL.md has no "name:" and "description:"'
}

/** A colon in a description is the mistake that nearly all broken heads have. */
function quoted(head: string): string {
  return head.replace(
    /^(name|description|license|compatibility):[ \t]+(?!["'|>])(.+)$/gm,
    (_, key: string, value: string) => `${key}: ${JSON.stringify(value.trim())}`,
  )
}

/** A title in place of a name, as many write: the folder has the name then. */
const TITLE = /^[A-Za-z0-9](?:[\w &/:+,()'-]|\.(?!\.)){0,199}$/

const slugOf = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-')

function toHead(values: JsonObject, folderName: string): SkillHead | string {
  const name = textOf(values['name']) || folderName
  const slug = [name, ...(TITLE.test(name) ? [folderName] : [])].map(slugOf).find((one) => SKILL_NAME.test(one))
  if (slug === undefined)
    return `its name ${JSON.stringify(name.slice(0, 70))} may have lower case letters a to z, digits and single dashes only, at most 64`
  const description = textOf(values['description']).replace(/\s+/g, ' ').trim()
  if (description === '') return 'SKILL.md says no "description:", so nothing tells when to use it'
  const metadata = isJsonObject(values['metadata']) ? values['metadata'] : {}
  const hermes = isJsonObject(metadata['hermes']) ? metadata['hermes'] : {}
  const own = (key: string) => words(metadata[`hermes-${key}`] ?? hermes[key])
  return {
    name: slug,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    group: [...own('group'), ...own('category')].find((group) => SKILL_NAME.test(group)) ?? 'general',
    platforms: [...words(values['platforms']), ...own('platforms')].map((os) => OS_NAMES[os] ?? os),
    variables: [...variableNames(values['required_environment_variables']), ...own('variables')].filter((name) =>
      VARIABLE.test(name),
    ),
    tools: [...own('requires_tools'), ...own('tools')].filter((name) => TOOL.test(name)),
    capabilities: own('capabilities').filter(isCapability),
  }
}

const isCapability = (word: string): word is SkillCapability =>
  word === 'network' || word === 'exec' || word === 'secrets'

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

/** A list, or words with spaces or commas between them. */
function words(value: unknown): readonly string[] {
  const all = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : []
  return all.flatMap((word) => (typeof word === 'string' && word !== '' ? [word] : []))
}

function variableNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return words(value)
  return value.flatMap((one) =>
    typeof one === 'string' ? [one] : isJsonObject(one) && typeof one['name'] === 'string' ? [one['name']] : [],
  )
}
