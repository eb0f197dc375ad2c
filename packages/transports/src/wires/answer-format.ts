// What an answer has to be, in the forms that wires have for it.
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { AnswerFormat } from '@hermes/contracts/model'
import type { SchemaDialect } from '../catalogue.js'
import { toSchemaDialect } from './tool-schemas.js'

type SchemaFormat = AnswerFormat & { readonly type: 'json-schema' }

/** As servers of OpenAI's two wires read it. */
export function schemaFormat({ name, description, schema, strict }: SchemaFormat, dialect?: SchemaDialect): JsonObject {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    schema: dialect ? toSchemaDialect(schema, dialect) : schema,
    ...(strict === undefined ? {} : { strict }),
  }
}

/** What Claude's servers understand of a schema. @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'items', 'enum', 'const', 'anyOf', 'allOf', '$ref', '$defs', 'definitions'],
  ...['title', 'description', 'format', 'minItems'],
])
const FORMATS: ReadonlySet<JsonValue> = new Set(
  'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '),
)
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const LISTED: ReadonlySet<string> = new Set(['anyOf', 'allOf'])
const COMBINED = ['anyOf', 'oneOf', 'allOf', '$ref'] as const
/** A schema may refer to itself in a circle, so this is how far it is followed. */
const MOST_REFERENCES = 64

/**
 * The schema as Claude's servers take it: objects have no members but those that are named, and what narrows a value further is left out.
 * `null` where that would forbid what the schema asks for. The answer is checked against the whole schema all the same.
 */
export function closedSchema(schema: JsonObject): JsonObject | null {
  return refersToItself(schema) ? null : closed(schema)
}

function closed(schema: JsonValue): JsonObject | null {
  if (!isJsonObject(schema)) return null
  const isObject = describesObject(schema)
  if (isObject && !mayBeClosed(schema)) return null
  // Closed one by one, they would forbid each other's members.
  const all = schema['allOf']
  if (combinations(schema) > 1) return null
  if (Array.isArray(all) && all.length > 1 && all.some(mayBeObject)) return null
  if (schema['patternProperties'] !== undefined || schema['prefixItems'] !== undefined) return null
  const result: Record<string, JsonValue> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const key = keyword === 'oneOf' ? 'anyOf' : keyword
    if (!KEPT.has(key)) continue
    if (key === 'format' && !FORMATS.has(value)) continue
    if (key === 'minItems' && value !== 0 && value !== 1) continue
    const inner = closedMember(key, value)
    if (inner === null) return null
    result[key] = inner
  }
  return isObject ? { ...result, additionalProperties: false } : result
}

function describesObject({ type = null, properties = null }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isJsonObject(properties)
}

/** Whether all members it may have are named here: none have any name, none stand in another schema that holds as well. */
function mayBeClosed(schema: JsonObject): boolean {
  const { properties = null, required = [], additionalProperties = false } = schema
  if (!isJsonObject(properties) || additionalProperties !== false) return false
  if (combinations(schema) > 0) return false
  return (
    Array.isArray(required) && required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name))
  )
}

function mayBeObject(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false
  return describesObject(schema) || combinations(schema) > 0
}

function combinations(schema: JsonObject): number {
  return COMBINED.filter((keyword) => schema[keyword] !== undefined).length
}

function closedMember(key: string, value: JsonValue): JsonValue | null {
  if (key === 'items') return closed(value)
  if (LISTED.has(key)) return Array.isArray(value) ? allOf(value.map(closed)) : null
  if (!NAMED.has(key)) return value
  if (!isJsonObject(value)) return null
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const)
  return members.some(([, member]) => member === null) ? null : (Object.fromEntries(members) as JsonObject)
}

function allOf(values: readonly (JsonObject | null)[]): JsonValue | null {
  return values.includes(null) ? null : (values as readonly JsonObject[])
}

function refersToItself(schema: JsonObject): boolean {
  let left = MOST_REFERENCES
  const follows = (value: JsonValue, open: readonly string[]): boolean => {
    if (Array.isArray(value)) return value.some((item: JsonValue) => follows(item, open))
    if (!isJsonObject(value)) return false
    const ref = value['$ref']
    if (typeof ref === 'string') {
      if (open.includes(ref) || left-- <= 0 || !ref.startsWith('#/')) return true
      const target = ref.slice(2).split('/').reduce<JsonValue>(memberOf, schema)
      if (follows(target, [...open, ref])) return true
    }
    return Object.entries(value).some(
      ([key, item]) => !(key === '$defs' || key === 'definitions') && follows(item, open),
    )
  }
  return follows(schema, [])
}

function memberOf(at: JsonValue, key: string): JsonValue {
  return isJsonObject(at) ? (at[key] ?? null) : null
}
