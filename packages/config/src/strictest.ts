import { checkField, type Issue, isMap, type Path } from './check-field.js'
import type { HermesConfig } from './hermes-config.js'
import { POLICY_KEYS, stricter, valueAt, withValueAt } from './policy-keys.js'
import { SCHEMA } from './schema.js'
import { parseYaml, type YamlFile } from './yaml-file.js'

/** What a text of settings says of each key that bounds the agent; `undefined` where it says nothing that can be read. */
type Reading = (path: readonly string[]) => unknown

/** What could be read of a file with a mistake. */
export interface Readable {
  readonly readings: readonly Reading[]
  /** Whether a bound may stand where it cannot be read. */
  readonly hidesBounds: boolean
}

/** Of a file that cannot be read at all. */
export const NOTHING_READABLE: Readable = { readings: [], hidesBounds: true }

/** What can be read of values some of which their keys may not hold. A key that is not there says what its default says. */
export function readableValues(config: HermesConfig, issues: readonly Issue[]): Readable {
  const isUnder = (inner: Path, outer: Path) => outer.every((key, index) => inner[index] === key)
  const reading: Reading = (path) =>
    issues.some((issue) => isUnder(path, issue.path)) ? undefined : valueAt(config, path)
  const hidesBounds = Object.keys(POLICY_KEYS)
    .map((key) => key.split('.'))
    .some((path) => issues.some((issue) => isUnder(path, issue.path) || isUnder(issue.path, path)))
  return { readings: [reading], hidesBounds }
}

/** What can be read of a text that is not valid YAML: each section is read by itself, so that one mistake hides no other section. */
export async function readableSections(text: string): Promise<Readable> {
  const sections = await Promise.all(text.split(/^(?=[\w"'])/m).map((section) => parseYaml(section)))
  return { readings: sections.map(readingOf), hidesBounds: true }
}

function readingOf({ value, sourceOf }: YamlFile): Reading {
  const issues: Issue[] = []
  const checked = isMap(value) ? checkField(SCHEMA, value, [], { issues, sourceOf }) : {}
  return (path) => {
    const isWritten = valueAt(value, path) !== undefined
    const isWrong = issues.some((issue) => issue.path.join('.') === path.join('.'))
    return isWritten && !isWrong ? valueAt(checked, path) : undefined
  }
}

/** `base` with the strictest of its own and all read values at each key that bounds the agent, and at which of them `base` was looser. */
export function strictest(
  base: HermesConfig,
  readings: readonly Reading[],
): { readonly config: HermesConfig; readonly tightened: readonly string[] } {
  let config: unknown = base
  const tightened: string[] = []
  for (const [key, how] of Object.entries(POLICY_KEYS)) {
    const path = key.split('.')
    const old = valueAt(base, path)
    const values = [old, ...readings.map((reading) => reading(path))].filter((value) => value !== undefined)
    if (values.length === 0) continue
    const strict = values.reduce<unknown>((first, second) => stricter(how, first, second), values[0])
    if (JSON.stringify(strict) === JSON.stringify(old)) continue
    config = withValueAt(config, path, strict)
    tightened.push(key)
  }
  return { config: config as HermesConfig, tightened }
}
