import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { JsonSchema, StandardSchema, Tool } from '@hermes/contracts/tool'
import { nameArguments } from './argument-names.js'
import type { SchemaCheck } from './schema-check.js'

/** What a check of arguments came to. */
type CheckedArguments =
  | {
      readonly type: 'valid'
      readonly args: unknown
      /** Names of arguments that the schema knows nothing of, and does not refuse. */
      readonly unknown: readonly string[]
    }
  | { readonly type: 'invalid'; readonly message: string }

/** Whether a tool's `parameters` is a Standard Schema rather than plain JSON Schema. */
function isStandardSchema(parameters: Tool['parameters']): parameters is StandardSchema {
  return '~standard' in parameters
}

const DRAFT = 'draft-2020-12'

/** The JSON Schema of parameters, without what costs tokens and tells a model nothing. */
function parameterSchema(parameters: Tool['parameters']): JsonSchema {
  if (!isStandardSchema(parameters)) return parameters
  const convert = parameters['~standard'].jsonSchema
  if (!convert)
    throw new TypeError('The schema of this tool cannot describe itself as JSON Schema; pass JSON Schema instead.')
  return tidy(convert.input({ target: DRAFT })) as JsonSchema
}

/**
 * What a model is told of parameters: `x-shown` stands in place of the schema it is in, and of a property with `x-shown: false` nothing is.
 * Such a property is told of where it is of use, in an answer or in words. What anybody takes for granted is left out.
 */
function shown(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(shown)
  if (!isObject(schema)) return schema
  if (isObject(schema[SHOWN])) return schema[SHOWN]
  const entries = Object.entries(schema).filter(([key, value]) => !isGranted(key, value, schema))
  return Object.fromEntries(
    entries.flatMap(([key, value]): [string, JsonValue][] =>
      isObject(value) && value[SHOWN] === false ? [] : [[key, shown(value)]],
    ),
  )
}

const SHOWN = 'x-shown'

/** A default that says nothing, and that a time is more than none. */
function isGranted(key: string, value: JsonValue, { enum: choices }: JsonObject): boolean {
  if (key === 'exclusiveMinimum') return value === 0
  if (key !== 'default') return false
  if (Array.isArray(choices)) return value === choices[0]
  return value === false || value === 0 || (Array.isArray(value) && value.length === 0)
}

function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === '$schema') continue
    if (key === 'maximum' && item === Number.MAX_SAFE_INTEGER) continue
    if (key === 'minimum' && item === Number.MIN_SAFE_INTEGER) continue
    result[key] = tidy(item)
  }
  return result
}

/** The parameters of one tool: what a model is told, and the check of what it sends. */
export interface ToolParameters {
  /** What the model is told; worked out when it is first read. */
  readonly schema: JsonSchema
  /** What is checked. */
  readonly whole: JsonSchema
  /**
   * Checks a model's arguments, after changing what is harmless to change: `"5"` for a number, `"true"` for a boolean, JSON text for an
   * object or array, a number for a string, `null` for a missing optional field, another usual spelling of a name. What the schema has a
   * default for is filled in.
   */
  check(args: JsonObject): Promise<CheckedArguments>
}

/** Reads a tool's parameters once. The library that checks JSON Schema loads with the first call. */
export function toolParameters(parameters: Tool['parameters']): ToolParameters {
  const schema = parameterSchema(parameters)
  let problemIn: SchemaCheck | null = null
  let visible: JsonSchema | null = null
  return {
    get schema() {
      visible ??= shown(schema) as JsonSchema
      return visible
    },
    whole: schema,
    check: async (args) => {
      const named = nameArguments(args, schema)
      const { unknown } = named
      const coerced = coerce(named.args, schema) as JsonObject
      if (isStandardSchema(parameters)) return checkStandard(parameters, coerced, unknown)
      problemIn ??= await checkerOf(schema)
      const message = problemIn(coerced)
      return message === null ? { type: 'valid', args: coerced, unknown } : { type: 'invalid', message }
    },
  }
}

/**
 * What does not fit a schema, on one line; `null` where all does. Nothing is changed to make it fit. Rejects where the schema itself cannot
 * be used.
 */
export async function schemaProblem(schema: JsonSchema, value: JsonValue): Promise<string | null> {
  return (await checkerOf(schema))(value)
}

const checkerOf = async (schema: JsonSchema): Promise<SchemaCheck> =>
  (await import('./schema-check.js')).schemaCheck(schema)

async function checkStandard(
  parameters: StandardSchema,
  args: JsonObject,
  unknown: readonly string[],
): Promise<CheckedArguments> {
  const result = await parameters['~standard'].validate(args)
  if (!result.issues) return { type: 'valid', args: result.value, unknown }
  return { type: 'invalid', message: result.issues.map((issue) => `${pathOf(issue.path)}${issue.message}`).join('; ') }
}

function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined): string {
  if (!path || path.length === 0) return ''
  return `${path.map((segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.')}: `
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function coerce(value: JsonValue, schema: JsonSchema): JsonValue {
  const types = typesOf(schema)
  if (typeof value === 'string') return coerceText(value, types, schema)
  if (typeof value === 'number' && types.includes('string') && !types.includes('number') && !types.includes('integer'))
    return String(value)
  if (Array.isArray(value) && isObject(schema['items']))
    return value.map((item) => coerce(item, schema['items'] as JsonSchema))
  if (!isObject(value) || !isObject(schema['properties'])) return value
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const result: Record<string, JsonValue> = {}
  for (const [key, item] of Object.entries(value)) {
    const property = (schema['properties'] as JsonObject)[key]
    if (!isObject(property)) result[key] = item
    else if (item === null && !required.includes(key) && !typesOf(property).includes('null')) continue
    else result[key] = coerce(item, property)
  }
  for (const [key, property] of Object.entries(schema['properties'])) {
    if (isObject(property) && property['default'] !== undefined && result[key] === undefined)
      result[key] = property['default']
  }
  return result
}

function coerceText(value: string, types: readonly string[], schema: JsonSchema): JsonValue {
  if (types.length === 0 || types.includes('string')) return value
  const text = value.trim()
  if ((types.includes('number') || types.includes('integer')) && NUMBER.test(text)) return Number(text)
  if (types.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  const opening = types.includes('array') ? '[' : types.includes('object') ? '{' : null
  if (opening && text.startsWith(opening)) {
    try {
      return coerce(JSON.parse(text) as JsonValue, schema)
    } catch {
      return value
    }
  }
  return value
}

function typesOf(schema: JsonSchema): readonly string[] {
  const type = schema['type']
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type as string[]
  const branches = (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined
  return Array.isArray(branches) ? branches.flatMap((branch) => typesOf(branch)) : []
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
