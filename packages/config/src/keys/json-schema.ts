import * as z from 'zod'
import { type Kind, kindOf } from './kinds.js'

/** A JSON Schema (2020-12) of what may be written, for editors. Any value may also be left empty or hold a reference such as `${NAME}`. */
export function toJsonSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // What was read is described; nothing has to be written.
      delete jsonSchema.required
      const kind = kindOf(zodSchema)
      if (kind) Object.assign(jsonSchema, writtenAs(kind))
    },
  })
}

const REFERENCE = '\\$\\{'

function writtenAs(kind: Kind): object {
  switch (kind.type) {
    case 'text':
      return { type: ['string', 'number', 'null'] }
    case 'name':
      return { type: ['string', 'null'] }
    case 'number':
      return { type: ['integer', 'string', 'null'], pattern: `^\\s*[+-]?\\d|^$|${REFERENCE}` }
    case 'share':
    case 'amount':
    case 'decimal':
      return { type: ['number', 'string', 'null'], pattern: `^\\s*[\\d.]|^$|${REFERENCE}` }
    case 'boolean':
      return oneOrReference('boolean', ['true', 'false', 'yes', 'no', 'on', 'off', '1', '0', 1, 0])
    case 'choice': {
      const words = Object.keys(kind.words)
      // YAML takes these two for booleans.
      return oneOrReference(undefined, [
        ...words,
        ...(words.includes('true') ? [true] : []),
        ...(words.includes('false') ? [false] : []),
      ])
    }
    case 'section':
      return kind.shorthand === undefined ? emptyOr('object') : { type: ['object', 'string', 'number', 'null'] }
    case 'record':
    case 'map':
      return emptyOr('object')
    case 'list':
      return emptyOr('array')
    case 'texts':
      return { type: ['array', 'null'], items: { type: ['string', 'number'] } }
    case 'any':
      return {}
    default:
      return kind satisfies never
  }
}

const emptyOr = (type: string) => ({ type: [type, 'string', 'null'], maxLength: 0 })

function oneOrReference(type: string | undefined, words: readonly unknown[]): object {
  const plain = type === undefined ? [] : [{ type }]
  return {
    type: undefined,
    enum: undefined,
    anyOf: [...plain, { enum: [...words, '', null] }, { type: 'string', pattern: REFERENCE }],
  }
}
