import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import type { Issue, Path } from './check-field.js'
import { checkField, describeValue, isMap } from './check-field.js'
import type { Unset } from './expand.js'
import { expandReferences } from './expand.js'
import type { ReadOutcome } from './files.js'
import { readText, tryReadText } from './files.js'
import type { HermesConfig } from './hermes-config.js'
import { homeLayout } from './home.js'
import { copyFolder, type KnownYaml, keepReading, readYaml } from './kept-reading.js'
import { misplacedKeys } from './misplaced-keys.js'
import type { ConfigProblem } from './problem.js'
import { problemAt } from './problem.js'
import { fieldAt, PLATFORM_SECTIONS, SCHEMA } from './schema.js'
import type { Variables } from './secrets.js'
import { loadSecrets } from './secrets.js'
import type { Readable } from './strictest.js'
import { NOTHING_READABLE, readableSections, readableValues, strictest } from './strictest.js'
import type { ReadYaml } from './yaml-file.js'

/** A configuration, and what is wrong with its file. */
interface LoadedConfig {
  readonly config: HermesConfig
  /** One line each; with warnings only, the file is still in effect. */
  readonly problems: ConfigProblem[]
  /** Where what bounds nothing comes from: `readable` is what can be read of a file with a mistake, where no good copy is. */
  readonly source: 'file' | 'last-good' | 'readable' | 'defaults'
  /** Whether a bound may be missing from `config`, because neither the file nor a good copy says it: every action asks. */
  readonly asksAlways: boolean
  /**
   * Top-level keys that Hermes itself has no meaning for, and names of other platforms as `platforms.NAME`, as the file has them now; none where
   * it is no map of settings.
   */
  readonly own: readonly OwnValue[]
}

/** The value of a key that an extension may have a meaning for. */
export interface OwnValue {
  readonly key: string
  /** References to variables are put in. */
  readonly value: unknown
  /** The same as the file has it. */
  readonly written: unknown
  /** Of references whose variable is not set: such a text stays as it is written. */
  readonly unset: readonly ConfigProblem[]
  /** How a number below the key is written in the file. */
  sourceOf(path: Path): string | undefined
  /** The line for something wrong at a place below the key. */
  problem(path: Path, message: string): ConfigProblem
}

/** Where to load from: `env` is what `${VAR}` looks in first, `.env` of the home second. */
export interface LoadConfigOptions {
  readonly home: string
  readonly env: Variables
}

/**
 * Loads `config.yaml` of a home. Never throws for what is in it: a mistake is a problem. The last values that loaded cleanly are used
 * then, else those of the file that can be read, else the defaults. A mistake loosens no bound (approvals, isolation, what may be
 * reached or spent): the stricter of what can still be read and of the last good values counts, and where neither says it,
 * `asksAlways` is set. The file itself is never written.
 */
export async function loadConfig({ home, env }: LoadConfigOptions): Promise<LoadedConfig> {
  const file = homeLayout(home).config
  const read = await tryReadText(file)
  if (read.type === 'missing')
    return { config: defaultConfig(), problems: [], source: 'defaults', asksAlways: false, own: [] }
  const examined = await examine(file, read, { home, env })
  const { own } = examined
  if (read.type === 'text' && examined.errors.length === 0) {
    // A home that cannot be written to still loads.
    await keepGood(home, read.text, examined.yaml).catch(() => undefined)
    return { config: examined.config, problems: examined.warnings, source: 'file', asksAlways: false, own }
  }
  const good = await lastGood({ home, env })
  const { readings, hidesBounds } = examined.readable
  const { config, tightened } = strictest(good ?? examined.config, readings)
  const source = good ? 'last-good' : examined.isMap ? 'readable' : 'defaults'
  const asksAlways = !good && hidesBounds
  const [first, ...more] = examined.errors
  const counts = whatCounts({ source, tightened, asksAlways })
  return {
    config,
    problems: [{ ...first!, message: `${first!.message} ${counts}` }, ...more, ...examined.warnings],
    source,
    asksAlways,
    own,
  }
}

function whatCounts({
  source,
  tightened,
  asksAlways,
}: Pick<LoadedConfig, 'source' | 'asksAlways'> & { readonly tightened: readonly string[] }): string {
  const used = {
    file: '',
    readable: 'Its other values',
    'last-good': 'The last good values',
    defaults: 'The defaults',
  }[source]
  const stricter =
    tightened.length > 0 ? `, and those of the file where they are stricter (${tightened.join(', ')})` : ''
  const asks = asksAlways ? ' Until it is fixed, every action asks.' : ''
  return `${used} are used${stricter}; nothing was overwritten.${asks}`
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
  /** Whether the text is a map of settings. */
  readonly isMap: boolean
  readonly readable: Readable
  readonly own: readonly OwnValue[]
  readonly errors: ConfigProblem[]
  readonly warnings: ConfigProblem[]
  /** The text as it was read; `null` where it is no map of settings. */
  readonly yaml: KnownYaml | null
}

async function examine(file: string, read: ReadOutcome, options: LoadConfigOptions): Promise<Examined> {
  const broken = (fault: ConfigProblem, readable: Readable): Examined => ({
    ...{ config: defaultConfig(), isMap: false, readable, own: [], errors: [fault], warnings: [], yaml: null },
  })
  if (read.type !== 'text') {
    const reason = read.type === 'unreadable' ? read.reason : 'it is gone'
    return broken({ message: `Cannot read ${file}: ${reason}.`, file }, NOTHING_READABLE)
  }
  const yaml = await readYaml({ home: options.home, name: 'config', text: read.text })
  const fault = faultOf(file, yaml)
  if (fault) return broken(fault, await readableSections(read.text))
  const variables = read.text.includes('${') ? (await loadSecrets(options)).values : {}
  const unset: Unset[] = []
  const value = expandReferences(yaml.value, variables, unset)
  const { config, issues } = checkValues(value, yaml)
  const notSet = unset.map(({ path, name }) => ({
    key: path[0],
    ...problemAt(
      file,
      yaml.locate(path),
      `${path.join('.')} refers to \${${name}}, which is not set; the text stays as it is.`,
    ),
  }))
  const own = ownValues(file, yaml, { value, notSet })
  return {
    ...{ config, yaml },
    isMap: true,
    readable: readableValues(config, issues),
    own,
    errors: issues.map((issue) => issueProblem(file, yaml, issue)),
    warnings: [
      ...misplacedKeys(file, yaml),
      ...notSet.filter((problem) => !own.some(({ key }) => key === problem.key)),
    ],
  }
}

function ownValues(
  file: string,
  yaml: ReadYaml,
  {
    value,
    notSet,
  }: { readonly value: unknown; readonly notSet: readonly (ConfigProblem & { readonly key: unknown })[] },
): readonly OwnValue[] {
  return [[], ...PLATFORM_SECTIONS.map((section) => [section])].flatMap((above) => {
    const field = fieldAt(above)
    if (field?.type !== 'section') return []
    const { fields, aliases = {} } = field
    const written = mapAt(yaml.value, above[0])
    return Object.entries(mapAt(value, above[0]))
      .filter(([key]) => !Object.hasOwn(fields, key) && !Object.hasOwn(aliases, key))
      .map(([key, item]) => ({
        key: [...above, key].join('.'),
        value: item,
        written: written[key],
        unset: notSet.filter((problem) => problem.key === key && above.length === 0),
        sourceOf: (path: Path) => yaml.sourceOf([...above, key, ...path]),
        problem: (path: Path, message: string) => {
          const place = [...above, key, ...path]
          return problemAt(file, yaml.locate(place), `${place.join('.')}: ${message}`)
        },
      }))
  })
}

/** The map at a key of a map, or the map itself without one; an empty one where there is none. */
function mapAt(value: unknown, key: string | undefined): Readonly<Record<string, unknown>> {
  const whole = isMap(value) ? value : {}
  const found = key === undefined ? whole : Object.hasOwn(whole, key) ? whole[key] : {}
  return isMap(found) ? found : {}
}

/** Why a text is no map of settings at all; `null` when it is one. An empty file is one. */
export function faultOf(file: string, yaml: ReadYaml): ConfigProblem | null {
  if (yaml.fault)
    return problemAt(file, yaml.fault, `this is not valid YAML: ${yaml.fault.message.replace(/\.$/, '')}.`)
  if (yaml.value === null || yaml.value === undefined || isMap(yaml.value)) return null
  return problemAt(file, yaml.locate([]), `the file must be a map of settings, found ${describeValue(yaml.value)}.`)
}

/** Checks the values of a whole file. */
export function checkValues(
  value: unknown,
  yaml: ReadYaml,
): { readonly config: HermesConfig; readonly issues: Issue[] } {
  const issues: Issue[] = []
  const config = checkField(SCHEMA, value, [], { issues, sourceOf: yaml.sourceOf }) as unknown as HermesConfig
  return { config, issues }
}

/** The line for a value that its key may not hold. */
export function issueProblem(file: string, yaml: ReadYaml, issue: Issue): ConfigProblem {
  return problemAt(
    file,
    yaml.locate(issue.path),
    `${issue.path.join('.')} must be ${issue.expected}, found ${describeValue(issue.found)}.`,
  )
}

/** What counts where `config.yaml` says nothing. */
export function defaultConfig(): HermesConfig {
  return checkField(SCHEMA, {}, [], { issues: [] }) as unknown as HermesConfig
}

const PREFIX = 'config.yaml.good.'
const KEPT = 5

/** The copies of configurations that loaded cleanly, newest first. */
async function goodCopies(home: string): Promise<string[]> {
  const folder = copyFolder(home)
  const names = await readdir(folder).catch(() => [])
  const copies = names.filter((name) => name.startsWith(PREFIX) && !name.endsWith('.tmp'))
  return copies.sort((a, b) => numberOf(b) - numberOf(a)).map((name) => join(folder, name))
}

/** Keeps a text that loaded cleanly, and then what it was read as. */
async function keepGood(home: string, text: string, yaml: KnownYaml | null): Promise<void> {
  if (!yaml || yaml.isKept) return
  await keepGoodCopy(home, text)
  await keepReading({ home, name: 'config', text }, yaml)
}

/** Keeps a copy of a text that loaded cleanly, unless the newest copy says the same. Five copies stay. */
async function keepGoodCopy(home: string, text: string): Promise<void> {
  const copies = await goodCopies(home)
  const newest = copies[0]
  if (newest !== undefined && (await holds(newest, text))) return
  const next = newest === undefined ? 1 : numberOf(newest) + 1
  await writePrivate(join(copyFolder(home), `${PREFIX}${String(next).padStart(6, '0')}`), text)
  for (const old of copies.slice(KEPT - 1)) await rm(old, { force: true })
}

async function holds(file: string, text: string): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  return found?.size === Buffer.byteLength(text) && (await readText(file)) === text
}

function numberOf(copy: string): number {
  return Number.parseInt(copy.slice(copy.lastIndexOf(PREFIX) + PREFIX.length), 10) || 0
}
