import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { SchemaDialect } from '../catalogue.js'

type Change = (schema: JsonObject) => JsonObject

/** Definitions go out with every request and never change, so each is brought to a dialect once. */
const known = new WeakMap<JsonObject, Map<SchemaDialect, JsonObject>>()

/** A schema of a tool's parameters in the dialect an endpoint takes: what it would refuse is left out or said another way. Pure. */
export function toSchemaDialect(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  const forms = known.get(schema) ?? new Map<SchemaDialect, JsonObject>()
  known.set(schema, forms)
  const form = forms.get(dialect) ?? change(schema, DIALECTS[dialect])
  forms.set(dialect, form)
  return form
}

const DIALECTS: Readonly<Record<SchemaDialect, Change>> = {
  gemini: toGemini,
  moonshot: toMoonshot,
  'llama-cpp': toGrammar,
}

/** Changes a schema and every schema in it, innermost first. */
function change(schema: JsonObject, by: Change): JsonObject {
  const inner = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (key === 'properties' && isJsonObject(value))
      return [
        key,
        Object.fromEntries(
          Object.entries(value).map(([name, item]) => [name, isJsonObject(item) ? change(item, by) : item]),
        ),
      ]
    if ((key === 'items' || key === 'additionalProperties') && isJsonObject(value)) return [key, change(value, by)]
    if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key) && Array.isArray(value))
      return [key, value.map((item) => (isJsonObject(item) ? change(item, by) : item))]
    return [key, value]
  })
  return by(Object.fromEntries(inner))
}

/** @see https://ai.google.dev/api/caching#Schema */
const GEMINI_KEYS = new Set(
  'type format title description nullable enum items properties required anyOf minimum maximum minItems maxItems minLength maxLength minProperties maxProperties pattern propertyOrdering'.split(
    ' ',
  ),
)
const GEMINI_FORMATS = new Set(['enum', 'date-time'])

function toGemini(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, type, format, properties, required, ...rest } = constAsEnum(schema)
  const merged = Array.isArray(allOf) ? Object.assign({}, ...allOf.filter(isJsonObject)) : {}
  const choices = [...asArray(anyOf), ...asArray(oneOf)].filter(isJsonObject)
  const real = choices.filter((choice) => !isNothing(choice))
  const types = asArray(type ?? merged['type']).filter((item) => item !== 'null')
  const isNullable = real.length < choices.length || asArray(type).includes('null')
  const one = real.length === 1 ? real[0]! : {}
  const all: Record<string, JsonValue | undefined> = {
    ...merged,
    ...one,
    ...rest,
    ...(real.length > 1 ? { anyOf: real } : {}),
    ...(types.length > 0 && real.length === 0 ? { type: types[0]! } : {}),
    ...(typeof format === 'string' && GEMINI_FORMATS.has(format) ? { format } : {}),
    ...(isNullable ? { nullable: true } : {}),
    ...(properties === undefined ? {} : { properties }),
    ...(required === undefined ? {} : { required }),
  }
  return onlyKnown(withTextEnum(withKnownRequired(withItems(all))), GEMINI_KEYS)
}

/** The type `null`, also in the form it has here. */
function isNothing(schema: JsonObject): boolean {
  return schema['type'] === 'null' || (schema['nullable'] === true && Object.keys(schema).length === 1)
}

function toMoonshot(schema: JsonObject): JsonObject {
  const { oneOf, type, ...rest } = constAsEnum(schema)
  const choices = [...asArray(rest['anyOf']), ...asArray(oneOf)].filter(isJsonObject)
  const types = asArray(type).filter((item) => item !== 'null')
  if (choices.length > 0) {
    const own = types[0]
    const anyOf = choices.map((choice) => (own !== undefined && !choice['type'] ? { ...choice, type: own } : choice))
    return onlyDefined({ ...rest, anyOf })
  }
  if (rest['$ref'] !== undefined) return { $ref: rest['$ref'] }
  return onlyDefined({ type: types[0] ?? guessType(rest), ...rest })
}

/** The server builds a grammar from the schema; patterns and formats are what that fails on. */
function toGrammar({ pattern: _pattern, format: _format, ...schema }: JsonObject): JsonObject {
  return schema
}

function constAsEnum({ const: constant, ...schema }: JsonObject): JsonObject {
  return constant === undefined ? schema : { ...schema, enum: [constant] }
}

function withItems(schema: Record<string, JsonValue | undefined>): Record<string, JsonValue | undefined> {
  return schema['type'] === 'array' && schema['items'] === undefined ? { ...schema, items: { type: 'string' } } : schema
}

function withKnownRequired(schema: Record<string, JsonValue | undefined>): Record<string, JsonValue | undefined> {
  const { required, properties } = schema
  if (!Array.isArray(required)) return schema
  const names = isJsonObject(properties) ? required.filter((name) => Object.hasOwn(properties, String(name))) : []
  return names.length === 0 ? { ...schema, required: undefined } : { ...schema, required: names }
}

/** Only texts can be enumerated there. */
function withTextEnum(schema: Record<string, JsonValue | undefined>): Record<string, JsonValue | undefined> {
  const values = schema['enum']
  if (!Array.isArray(values)) return schema
  const texts = values.filter((value) => typeof value === 'string' && value !== '')
  if (texts.length === 0 || texts.length < values.filter((value) => value !== null && value !== '').length)
    return { ...schema, enum: undefined }
  return { ...schema, type: 'string', enum: texts }
}

function onlyKnown(schema: Record<string, JsonValue | undefined>, keys: ReadonlySet<string>): JsonObject {
  return onlyDefined(Object.fromEntries(Object.entries(schema).filter(([key]) => keys.has(key))))
}

function onlyDefined(schema: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
}

function asArray(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
}

function guessType(schema: JsonObject): string {
  if (schema['properties'] !== undefined) return 'object'
  if (schema['items'] !== undefined) return 'array'
  const [first] = asArray(schema['enum'])
  return typeof first === 'number' || typeof first === 'boolean' ? typeof first : 'string'
}
