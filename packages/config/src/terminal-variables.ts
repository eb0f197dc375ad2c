import { checkField, describeValue, expectedOf, type Issue } from './check-field.js'
import type { Field, Section } from './field.js'
import type { HermesConfig } from './hermes-config.js'
import { SCHEMA } from './schema.js'
import type { Variables } from './secrets.js'

/** A folder of this machine as often as of another one, so that only the file sets it. */
const NOT_BY_VARIABLE: readonly string[] = ['cwd']

/**
 * `config` with what variables say of the terminal: each key as `TERMINAL_` and its name in capitals, `backend` also as `TERMINAL_ENV`. They
 * go before the file. Lists and maps are JSON, lists also texts with commas between; an empty variable says nothing, and one that cannot be
 * is a problem that changes nothing.
 */
export function withTerminalVariables(
  config: HermesConfig,
  variables: Variables,
): { readonly config: HermesConfig; readonly problems: readonly string[] } {
  const problems: string[] = []
  const found: Record<string, unknown> = {}
  for (const [key, field] of Object.entries((SCHEMA.fields['terminal'] as Section).fields)) {
    const names = [`TERMINAL_${key.toUpperCase()}`, ...(key === 'backend' ? ['TERMINAL_ENV'] : [])]
    const name = names.find((one) => variables[one])
    if (name === undefined || NOT_BY_VARIABLE.includes(key)) continue
    const issues: Issue[] = []
    const value = parsed(field, variables[name]!)
    const read = checkField(field, value, [key], { issues })
    if (issues.length === 0) found[key] = read
    else
      problems.push(`The variable ${name} must be ${expectedOf(field)}, found ${shown(field, value)}; it is left out.`)
  }
  if (Object.keys(found).length === 0) return { config, problems }
  return { config: { ...config, terminal: { ...config.terminal, ...found } }, problems }
}

function parsed(field: Field, text: string): unknown {
  if (field.type !== 'texts' && field.type !== 'map') return text
  try {
    return JSON.parse(text)
  } catch {
    if (field.type === 'map') return text
    return text.split(',').flatMap((item) => item.trim() || [])
  }
}

/** Variables of commands are in a map, and keys may be among them. */
function shown(field: Field, value: unknown): string {
  return field.type === 'map' && typeof value === 'string' ? 'a text that is no JSON' : describeValue(value)
}
