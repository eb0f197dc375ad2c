import { isMap, type Path } from './check-field.js'
import { tryReadText } from './files.js'
import { homeLayout } from './home.js'
import { faultOf, type LoadConfigOptions, loadConfig } from './load-config.js'
import { meantName } from './nearest.js'
import { type ConfigProblem, problemAt } from './problem.js'
import { type Field, SCHEMA } from './schema.js'
import { parseYaml } from './yaml-file.js'

/** Everything wrong with `config.yaml` of a home: the problems of loading it, and unknown keys that look like typing errors. */
export async function checkConfig(options: LoadConfigOptions): Promise<ConfigProblem[]> {
  const file = homeLayout(options.home).config
  const [{ problems }, read] = await Promise.all([loadConfig(options), tryReadText(file)])
  if (read.type !== 'text') return problems
  const yaml = await parseYaml(read.text)
  if (faultOf(file, yaml)) return problems
  const typos = await Promise.all(
    unknownKeys(SCHEMA, yaml.value, []).map(async ({ path, known }) => {
      const key = String(path.at(-1))
      const meant = await meantName(key, known)
      if (meant === null) return []
      const [written, right] = [path.join('.'), [...path.slice(0, -1), meant].join('.')]
      return problemAt(file, yaml.locateKey(path), `${written} is not a known key. Did you mean ${right}?`)
    }),
  )
  return [...problems, ...typos.flat()]
}

interface UnknownKey {
  readonly path: Path
  readonly known: readonly string[]
}

function unknownKeys(field: Field | undefined, value: unknown, path: Path): UnknownKey[] {
  if (!isMap(value)) return []
  if (field?.type === 'record')
    return Object.entries(value).flatMap(([name, item]) => unknownKeys(field.of, item, [...path, name]))
  if (field?.type !== 'section') return []
  const { fields, aliases = {} } = field
  return Object.entries(value).flatMap(([key, item]) => {
    if (Object.hasOwn(fields, key)) return unknownKeys(fields[key], item, [...path, key])
    return Object.hasOwn(aliases, key)
      ? []
      : [{ path: [...path, key], known: Object.keys(fields).filter((name) => !Object.hasOwn(value, name)) }]
  })
}
