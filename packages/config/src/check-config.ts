import { nearestName } from '@hermes/contracts'
import { isMap, type Path } from './check-field.js'
import { tryReadText } from './files.js'
import { homeLayout } from './home.js'
import { faultOf, type LoadConfigOptions, loadConfig } from './load-config.js'
import { unusedKeys } from './misplaced-keys.js'
import { type ConfigProblem, problemAt } from './problem.js'
import { parseYaml } from './yaml-file.js'

/** Names that values of `config.yaml` may have; what is not given is not checked. */
interface KnownNames {
  /** Beside `auto` and those that the file itself names. */
  readonly providers?: readonly string[]
  readonly toolsets?: readonly string[]
  /** Names of wires, for `api_mode`. */
  readonly apiModes?: readonly string[]
}

/** Where to check, and what names there are. */
interface CheckConfigOptions extends LoadConfigOptions {
  readonly known?: KnownNames
}

/**
 * Everything wrong with `config.yaml` of a home: the problems of loading it, keys without a meaning, and values
 * that name a provider, toolset or wire that does not exist.
 */
export async function checkConfig(options: CheckConfigOptions): Promise<ConfigProblem[]> {
  const file = homeLayout(options.home).config
  const [{ problems }, read] = await Promise.all([loadConfig(options), tryReadText(file)])
  if (read.type !== 'text') return problems
  const yaml = await parseYaml(read.text)
  if (faultOf(file, yaml)) return problems
  const strangers = unknownNames(yaml.value, options.known ?? {}).map(({ path, name, kind, known }) => {
    const meant = nearestName(name, known)
    const hint = meant === null ? `Valid: ${known.join(', ')}.` : `Did you mean ${meant}?`
    return problemAt(file, yaml.locate(path), `${path.join('.')}: there is no ${kind} "${name}". ${hint}`)
  })
  return [...problems, ...unusedKeys(file, yaml), ...strangers]
}

interface UnknownName {
  readonly path: Path
  readonly name: string
  /** For people. */
  readonly kind: string
  readonly known: readonly string[]
}

function unknownNames(value: unknown, { providers, toolsets, apiModes }: KnownNames): UnknownName[] {
  if (!isMap(value)) return []
  const found: UnknownName[] = []
  const check = (path: Path, name: unknown, kind: string, known: readonly string[] | undefined) => {
    if (!known || typeof name !== 'string' || name === '' || name.includes('${')) return
    const wanted = name.toLowerCase()
    if (!known.some((one) => one.toLowerCase() === wanted)) found.push({ path, name, kind, known })
  }
  const own = asMap(value['providers'])
  const aliases = Object.values(own).flatMap((entry) => asList(asMap(entry)['aliases']).map(String))
  const named = [...Object.keys(own), ...aliases, ...asList(value['custom_providers']).map(nameOf)]
  const allProviders = providers && ['auto', ...named, ...providers, ...named.map((name) => `custom:${name}`)]
  const model = asMap(value['model'])
  check(['model', 'provider'], model['provider'], 'provider', allProviders)
  check(['model', 'api_mode'], model['api_mode'], 'wire', apiModes)
  for (const [name, entry] of Object.entries(own))
    check(['providers', name, 'api_mode'], asMap(entry)['api_mode'], 'wire', apiModes)
  for (const [index, entry] of asList(value['fallback_providers']).entries())
    check(['fallback_providers', index, 'provider'], asMap(entry)['provider'], 'provider', allProviders)
  for (const [index, entry] of asList(value['routing']).entries())
    check(['routing', index, 'provider'], asMap(entry)['provider'], 'provider', allProviders)
  for (const [task, entry] of Object.entries(asMap(value['auxiliary'])))
    if (asMap(entry)['provider'] !== 'main')
      check(['auxiliary', task, 'provider'], asMap(entry)['provider'], 'provider', allProviders)
  const sets = toolsets && [...toolsets, ...Object.keys(asMap(value['custom_toolsets']))]
  const platforms = Object.keys(asMap(value['platform_toolsets'])).map((name) => ['platform_toolsets', name])
  for (const path of [['toolsets'], ['agent', 'disabled_toolsets'], ...platforms]) {
    const list = asList(path.reduce<unknown>((inner, key) => asMap(inner)[key], value))
    for (const [index, name] of list.entries()) check([...path, index], name, 'toolset', sets)
  }
  return found
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function nameOf(entry: unknown): string {
  return String(asMap(entry)['name'] ?? '')
}
