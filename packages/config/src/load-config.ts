import { checkField, describeValue, type Issue, isMap } from './check-field.js'
import { expandReferences, type Unset } from './expand.js'
import { type ReadOutcome, tryReadText } from './files.js'
import type { HermesConfig } from './hermes-config.js'
import { homeLayout } from './home.js'
import { goodCopies, keepGoodCopy } from './last-good.js'
import { type ConfigProblem, problemAt } from './problem.js'
import { SCHEMA } from './schema.js'
import { loadSecrets, type Variables } from './secrets.js'
import { parseYaml, type YamlFile } from './yaml-file.js'

/** A configuration, and what is wrong with its file. */
export interface LoadedConfig {
  readonly config: HermesConfig
  /** One line each; with warnings only, the file is still in effect. */
  readonly problems: ConfigProblem[]
  readonly source: 'file' | 'last-good' | 'defaults'
}

/** Where to load from: `env` is what `${VAR}` looks in first, `.env` of the home second. */
export interface LoadConfigOptions {
  readonly home: string
  readonly env: Variables
}

/**
 * Loads `config.yaml` of a home. Never throws for what is in it: a broken file is a problem, and the last values that loaded cleanly
 * are used, else the defaults. The file itself is never written.
 */
export async function loadConfig({ home, env }: LoadConfigOptions): Promise<LoadedConfig> {
  const file = homeLayout(home).config
  const read = await tryReadText(file)
  if (read.type === 'missing') return { config: defaults(), problems: [], source: 'defaults' }
  const examined = await examine(file, read, { home, env })
  if (read.type === 'text' && examined.errors.length === 0) {
    // A home that cannot be written to still loads.
    await keepGoodCopy(home, read.text).catch(() => undefined)
    return { config: examined.config, problems: examined.warnings, source: 'file' }
  }
  const good = await lastGood({ home, env })
  const used = good ? 'The last good values are used' : 'The defaults are used'
  const errors = examined.errors.map((problem) => ({
    ...problem,
    message: `${problem.message} ${used}; nothing was overwritten.`,
  }))
  return {
    config: good ?? defaults(),
    problems: [...errors, ...examined.warnings],
    source: good ? 'last-good' : 'defaults',
  }
}

async function lastGood(options: LoadConfigOptions): Promise<HermesConfig | null> {
  for (const copy of await goodCopies(options.home)) {
    const read = await tryReadText(copy)
    if (read.type !== 'text') continue
    const { config, errors } = await examine(copy, read, options)
    if (errors.length === 0) return config
  }
  return null
}

interface Examined {
  readonly config: HermesConfig
  readonly errors: ConfigProblem[]
  readonly warnings: ConfigProblem[]
}

async function examine(file: string, read: ReadOutcome, options: LoadConfigOptions): Promise<Examined> {
  if (read.type !== 'text') {
    const reason = read.type === 'unreadable' ? read.reason : 'it is gone'
    return { config: defaults(), errors: [{ message: `Cannot read ${file}: ${reason}.`, file }], warnings: [] }
  }
  const yaml = await parseYaml(read.text)
  const fault = faultOf(file, yaml)
  if (fault) return { config: defaults(), errors: [fault], warnings: [] }
  const variables = read.text.includes('${') ? (await loadSecrets(options)).values : {}
  const unset: Unset[] = []
  const { config, issues } = checkValues(expandReferences(yaml.value, variables, unset), yaml)
  return {
    config,
    errors: issues.map((issue) => issueProblem(file, yaml, issue)),
    warnings: unset.map(({ path, name }) =>
      problemAt(
        file,
        yaml.locate(path),
        `${path.join('.')} refers to \${${name}}, which is not set; the text stays as it is.`,
      ),
    ),
  }
}

/** Why a text is no map of settings at all; `null` when it is one. An empty file is one. */
export function faultOf(file: string, yaml: YamlFile): ConfigProblem | null {
  if (yaml.fault)
    return problemAt(file, yaml.fault, `this is not valid YAML: ${yaml.fault.message.replace(/\.$/, '')}.`)
  if (yaml.value === null || yaml.value === undefined || isMap(yaml.value)) return null
  return problemAt(file, yaml.locate([]), `the file must be a map of settings, found ${describeValue(yaml.value)}.`)
}

/** Checks the values of a whole file. */
export function checkValues(
  value: unknown,
  yaml: YamlFile,
): { readonly config: HermesConfig; readonly issues: Issue[] } {
  const issues: Issue[] = []
  const config = checkField(SCHEMA, value, [], { issues, sourceOf: yaml.sourceOf }) as unknown as HermesConfig
  return { config, issues }
}

/** The line for a value that its key may not hold. */
export function issueProblem(file: string, yaml: YamlFile, issue: Issue): ConfigProblem {
  return problemAt(
    file,
    yaml.locate(issue.path),
    `${issue.path.join('.')} must be ${issue.expected}, found ${describeValue(issue.found)}.`,
  )
}

function defaults(): HermesConfig {
  return checkField(SCHEMA, {}, [], { issues: [] }) as unknown as HermesConfig
}
