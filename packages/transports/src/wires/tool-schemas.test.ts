import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { toSchemaDialect } from './tool-schemas.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON as it was sent, to be looked into.
type Sent = any

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    path: { type: 'string', format: 'uri-reference', pattern: '^/', default: '/' },
    limit: { type: ['integer', 'null'], exclusiveMinimum: 0 },
    mode: { const: 'fast' },
    level: { type: 'integer', enum: [1, 2] },
    either: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    maybe: { anyOf: [{ type: 'string', description: 'x' }, { type: 'null' }] },
    pattern: { type: 'string' },
    anything: { description: 'Anything.' },
    list: { type: 'array' },
  },
  required: ['path', 'gone'],
  additionalProperties: false,
} as const

describe('toSchemaDialect', () => {
  it('says for Gemini what it knows and leaves out the rest', () => {
    expect(toSchemaDialect(schema, 'gemini')).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', pattern: '^/' },
        limit: { type: 'integer', nullable: true },
        mode: { type: 'string', enum: ['fast'] },
        level: { type: 'integer' },
        either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
        maybe: { type: 'string', description: 'x', nullable: true },
        pattern: { type: 'string' },
        anything: { description: 'Anything.' },
        list: { type: 'array', items: { type: 'string' } },
      },
      required: ['path'],
    })
  })

  it('gives for Moonshot each schema a type, and choices none beside them', () => {
    const { properties } = toSchemaDialect(schema, 'moonshot') as Sent
    expect(properties.mode).toEqual({ type: 'string', enum: ['fast'] })
    expect(properties.anything).toEqual({ type: 'string', description: 'Anything.' })
    expect(properties.either).toEqual({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
    expect(properties.limit.type).toBe('integer')
    const typed = { type: 'string', anyOf: [{ minLength: 1 }, { type: 'string', maxLength: 2 }] }
    expect(toSchemaDialect(typed as unknown as JsonObject, 'moonshot')).toEqual({
      anyOf: [
        { minLength: 1, type: 'string' },
        { type: 'string', maxLength: 2 },
      ],
    })
  })

  it('leaves out for llama.cpp what its grammars stumble over, but no property of that name', () => {
    const { properties } = toSchemaDialect(schema, 'llama-cpp') as Sent
    expect(properties.path).toEqual({ type: 'string', default: '/' })
    expect(properties.pattern).toEqual({ type: 'string' })
  })

  it('changes nothing in place and gives the same object again', () => {
    const before = JSON.stringify(schema)
    expect(toSchemaDialect(schema, 'gemini')).toBe(toSchemaDialect(schema, 'gemini'))
    expect(JSON.stringify(schema)).toBe(before)
  })
})
