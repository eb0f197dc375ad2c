// The rules of `skills-ref validate`, the reference validator of agentskills.io (github.com/agentskills/agentskills, skills-ref 0.1.5), which is
// a program of its own: held here as a list, apart from the code that writes skills.
import { parse } from 'yaml'

const FIELDS = ['name', 'description', 'license', 'allowed-tools', 'metadata', 'compatibility']

/** Each rule with whether a head breaks it. `folder`: the name of the skill's folder. */
const RULES: readonly (readonly [rule: string, isBroken: (head: Readonly<Record<string, unknown>>, folder: string) => boolean])[] = [
  ['only known fields', (head) => Object.keys(head).some((key) => !FIELDS.includes(key))],
  ['name is there, a text', ({ name }) => typeof name !== 'string' || name.trim() === ''],
  ['name has at most 64 characters', ({ name }) => String(name).length > 64],
  ['name is in lower case', ({ name }) => String(name) !== String(name).toLowerCase()],
  ['name neither begins nor ends with a hyphen', ({ name }) => /^-|-$/.test(String(name))],
  ['name has no two hyphens in a row', ({ name }) => String(name).includes('--')],
  ['name has letters, digits and hyphens', ({ name }) => !/^[\p{L}\p{N}-]*$/u.test(String(name))],
  ['name is that of its folder', ({ name }, folder) => String(name).normalize('NFKC') !== folder.normalize('NFKC')],
  ['description is there, a text', ({ description }) => typeof description !== 'string' || description.trim() === ''],
  ['description has at most 1024 characters', ({ description }) => String(description).length > 1024],
  [
    'compatibility is a text of at most 500 characters',
    ({ compatibility }) => compatibility !== undefined && (typeof compatibility !== 'string' || compatibility.length > 500),
  ],
]

/** The rules that a SKILL.md breaks. */
export function brokenRules(text: string, folder: string): readonly string[] {
  if (!text.startsWith('---')) return ['it begins with a head']
  const [, head] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (head === undefined) return ['its head is closed']
  const values: unknown = parse(head)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return ['its head is a mapping']
  return RULES.filter(([, isBroken]) => isBroken(values as Readonly<Record<string, unknown>>, folder)).map(([rule]) => rule)
}
