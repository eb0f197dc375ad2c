// The check of values by JSON Schema, with the library for it. Loaded with the first call of a tool.
import { Validator } from '@cfworker/json-schema'
import type { JsonValue } from '@hermes/contracts'
import type { JsonSchema } from '@hermes/contracts/tool'

/** What does not fit, on one line; `null` where all does. */
export type SchemaCheck = (value: JsonValue) => string | null

/** Throws where the schema itself cannot be used. */
export function schemaCheck(schema: JsonSchema): SchemaCheck {
  const validator = new Validator(withoutPatterns(schema) as object, '2020-12', false)
  return (value) => {
    const { valid, errors } = validator.validate(value)
    if (valid) return null
    const leaves = errors.filter((error) => error.keyword !== 'properties' && error.keyword !== 'items')
    return leaves.map((error) => `${error.instanceLocation.replace(/^#\/?/, '')} ${error.error}`.trim()).join('; ')
  }
}

/** Where the names of properties stand, and no keywords. */
const NAMES: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/** Without expressions of others, which may take for ever on a text that is made for it. The model reads them all the same. */
function withoutPatterns(schema: unknown, hasNames = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutPatterns(item))
  if (typeof schema !== 'object' || schema === null) return schema
  // Names that a pattern allows would be refused without it.
  const isOpen = !hasNames && 'patternProperties' in schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (!hasNames && (key === 'pattern' || key === 'patternProperties')) return []
      if (isOpen && (key === 'additionalProperties' || key === 'unevaluatedProperties')) return []
      const isData = !hasNames && (key === 'const' || key === 'enum' || key === 'default' || key === 'examples')
      return [[key, isData ? value : withoutPatterns(value, !hasNames && NAMES.has(key))]]
    }),
  )
}
