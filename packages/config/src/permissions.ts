import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { describeValue, isMap } from './check-field.js'
import { editYaml, type YamlEdit } from './edit-yaml.js'
import { readToEdit, tryReadText } from './files.js'
import { homeLayout } from './home.js'
import { keepReading, readYaml } from './kept-reading.js'
import { type ConfigProblem, problemAt } from './problem.js'
import { parseYaml, type ReadYaml } from './yaml-file.js'

const CLOSED = 'Until it is fixed, every action asks.'

/** What a rule of `permissions.yaml` says. */
type Decision = 'allow' | 'ask' | 'deny'

/** The rules of `permissions.yaml`, in the order of the file. */
interface Permissions {
  readonly rules: Record<string, Decision>
  readonly problems: ConfigProblem[]
  /** Patterns whose decision could not be read. */
  readonly unread: readonly string[]
  /** Where a rule is written, as `FILE:LINE:COLUMN`; `undefined` for one that is not in the file. */
  readonly sourceOf: (pattern: string) => string | undefined
}

/**
 * Reads `permissions.yaml` of a home, a map from pattern to decision. Never throws for what is in it: a rule whose decision cannot be read
 * may have been meant to deny, so it asks, and is a problem. The same goes for a file that is no such map: then nothing in it allows and
 * everything else asks.
 */
export async function loadPermissions({ home }: { readonly home: string }): Promise<Permissions> {
  const file = homeLayout(home).permissions
  const read = await tryReadText(file)
  if (read.type === 'missing') return { rules: {}, problems: [], unread: [], sourceOf: () => undefined }
  if (read.type === 'unreadable') return closed([], { message: `Cannot read ${file}: ${read.reason}. ${CLOSED}`, file })
  const from = { home, name: 'permissions', text: read.text } as const
  const yaml = await readYaml(from)
  const sourceOf = (pattern: string) => {
    const place = yaml.locateKey([pattern])
    return isMap(yaml.value) && Object.hasOwn(yaml.value, pattern) ? `${file}:${place.line}:${place.column}` : undefined
  }
  const fault = faultOf(file, yaml)
  const entries = isMap(yaml.value) ? Object.entries(yaml.value) : []
  const rules = entries.map(([pattern, word]) => [pattern, isDecision(word) ? word : 'ask'] as const)
  if (fault) return closed(rules, fault, sourceOf)
  // A home that cannot be written to still loads.
  await keepReading(from, yaml).catch(() => undefined)
  const unread = entries.filter(([, word]) => !isDecision(word))
  const problems = unread.map(([pattern, word]) => {
    const found = describeValue(word)
    const message = `"${pattern}" must be allow, ask or deny, found ${found}. Until it is fixed, this asks.`
    return problemAt(file, yaml.locate([pattern]), message)
  })
  return { rules: Object.fromEntries(rules), problems, unread: unread.map(([pattern]) => pattern), sourceOf }
}

function closed(
  read: readonly (readonly [string, Decision])[],
  problem: ConfigProblem,
  sourceOf: Permissions['sourceOf'] = () => undefined,
): Permissions {
  return { rules: allowNothing(Object.fromEntries(read)), problems: [problem], unread: [], sourceOf }
}

/** The rules that forbid or ask, with everything else asking: for when what bounds the agent cannot be read. */
export function allowNothing(rules: Permissions['rules']): Permissions['rules'] {
  const strict = Object.entries(rules).filter(([pattern, decision]) => decision !== 'allow' && pattern !== '*')
  return { '*': 'ask', ...Object.fromEntries(strict) }
}

function isDecision(word: unknown): word is Decision {
  return word === 'allow' || word === 'ask' || word === 'deny'
}

function faultOf(file: string, yaml: ReadYaml): ConfigProblem | null {
  if (yaml.fault)
    return problemAt(file, yaml.fault, `this is not valid YAML: ${yaml.fault.message.replace(/\.$/, '')}. ${CLOSED}`)
  if (yaml.value === null || yaml.value === undefined || isMap(yaml.value)) return null
  const found = describeValue(yaml.value)
  return problemAt(
    file,
    yaml.locate([]),
    `the file must be a map from pattern to allow, ask or deny, found ${found}. ${CLOSED}`,
  )
}

/**
 * Adds a rule at the end of `permissions.yaml` of a home, where it counts before all others; one with this pattern is moved there. Comments
 * stay. Atomic, mode 0600.
 * @throws HermesError `config.broken` when the file is not valid YAML, `files.not_writable`, `config.unreadable`
 */
export async function appendPermission(options: {
  readonly home: string
  readonly pattern: string
  readonly decision: Decision
}): Promise<void> {
  await editPermissions(options.home, (edit) => {
    edit.set([options.pattern], options.decision)
    edit.moveToEnd(options.pattern)
  })
}

/**
 * Takes a rule out of `permissions.yaml` of a home, with the comments that belong to it; `false` when there is none. Atomic, mode 0600.
 * @throws HermesError `config.broken` when the file is not valid YAML, `files.not_writable`, `config.unreadable`
 */
export function removePermission(options: { readonly home: string; readonly pattern: string }): Promise<boolean> {
  return editPermissions(options.home, (edit) => {
    const isThere = edit.has([options.pattern])
    edit.remove([options.pattern])
    return isThere
  })
}

async function editPermissions<Result>(home: string, change: (edit: YamlEdit) => Result): Promise<Result> {
  const file = homeLayout(home).permissions
  const text = await readToEdit(file)
  const fault = faultOf(file, await parseYaml(text))
  if (fault) throw new HermesError(fault.message, { code: 'config.broken' })
  let result: Result
  const edited = await editYaml(text, (edit) => {
    result = change(edit)
  })
  if (edited !== text) await writePrivate(file, edited)
  return result!
}
