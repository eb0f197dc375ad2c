import { HermesError } from '@hermes/contracts'
import { describeValue, isMap } from './check-field.js'
import { editYaml } from './edit-yaml.js'
import { readText, tryReadText, writePrivate } from './files.js'
import { homeLayout } from './home.js'
import { type ConfigProblem, problemAt } from './problem.js'
import { parseYaml, type YamlFile } from './yaml-file.js'

const CLOSED = 'Until it is mended, every action asks.'

/** What a rule of `permissions.yaml` says. */
export type Decision = 'allow' | 'ask' | 'deny'

/** The rules of `permissions.yaml`, in the order of the file. */
export interface Permissions {
  readonly rules: Record<string, Decision>
  readonly problems: ConfigProblem[]
}

/**
 * Reads `permissions.yaml` of a home, a map from pattern to decision. Never throws for what is in it: a rule that cannot be read is left
 * out and is a problem. A file that is no such map may have lost a rule that denies: then nothing in it allows and everything else asks.
 */
export async function loadPermissions({ home }: { readonly home: string }): Promise<Permissions> {
  const file = homeLayout(home).permissions
  const read = await tryReadText(file)
  if (read.type === 'missing') return { rules: {}, problems: [] }
  if (read.type === 'unreadable') return closed([], { message: `Cannot read ${file}: ${read.reason}. ${CLOSED}`, file })
  const yaml = await parseYaml(read.text)
  const fault = faultOf(file, yaml)
  const entries = isMap(yaml.value) ? Object.entries(yaml.value) : []
  const rules = entries.filter((entry): entry is [string, Decision] => isDecision(entry[1]))
  if (fault) return closed(rules, fault)
  const problems = entries
    .filter(([, word]) => !isDecision(word))
    .map(([pattern, word]) => {
      const found = describeValue(word)
      const message = `"${pattern}" must be allow, ask or deny, found ${found}. This rule is left out.`
      return problemAt(file, yaml.locate([pattern]), message)
    })
  return { rules: Object.fromEntries(rules), problems }
}

function closed(read: readonly (readonly [string, Decision])[], problem: ConfigProblem): Permissions {
  const strict = read.filter(([, decision]) => decision !== 'allow')
  return { rules: { '*': 'ask', ...Object.fromEntries(strict) }, problems: [problem] }
}

function isDecision(word: unknown): word is Decision {
  return word === 'allow' || word === 'ask' || word === 'deny'
}

function faultOf(file: string, yaml: YamlFile): ConfigProblem | null {
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
 * Adds a rule to `permissions.yaml` of a home, or changes the one with this pattern; comments and order stay. Atomic, mode 0600.
 * @throws HermesError `config.broken` when the file is not valid YAML, `config.not_writable`
 */
export async function appendPermission(options: {
  readonly home: string
  readonly pattern: string
  readonly decision: Decision
}): Promise<void> {
  const file = homeLayout(options.home).permissions
  const text = (await readText(file)) ?? ''
  const fault = faultOf(file, await parseYaml(text))
  if (fault) throw new HermesError(fault.message, { code: 'config.broken' })
  await writePrivate(file, await editYaml(text, (edit) => edit.set([options.pattern], options.decision)))
}
