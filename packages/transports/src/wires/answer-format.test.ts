import type { JsonObject } from '@hermes/contracts'
import type { ModelRequest, ToolChoice } from '@hermes/contracts/model'
import { expect, it } from 'vitest'
import { closedSchema } from './answer-format.js'
import { toWireRequest as anthropic } from './anthropic-messages/wire-request.js'
import { toWireRequest as bedrock } from './bedrock-converse/wire-request.js'
import { toWireRequest as chat } from './chat-completions/wire-request.js'
import { toWireRequest as responses } from './responses/wire-request.js'

const schema = {
  type: 'object',
  properties: { size: { type: 'integer', minimum: 1 }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['size'],
}
const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
const parts = { stamp, streaming: false, quirks: {} } as const
const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }] as const

function request(model: string, over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'How big?' }] }],
    tools,
    answerFormat: { type: 'json-schema', name: 'city', schema, strict: true },
    ...over,
  }
}

const json = { answerFormat: { type: 'json' } } as const
const closed = {
  type: 'object',
  properties: { size: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['size'],
  additionalProperties: false,
}

it('tells each wire what an answer has to be in its own form, and leaves it out where the endpoint takes none', () => {
  const ofChat = (over: object, quirks = {}, model = 'gpt-5') =>
    (chat(request(model, over), { ...parts, quirks }) as JsonObject)['response_format']
  const named = { name: 'city', schema, strict: true }
  expect(ofChat({})).toEqual({ type: 'json_schema', json_schema: named })
  expect(ofChat(json)).toEqual({ type: 'json_object' })
  expect(ofChat({}, { answerFormats: 'json' })).toEqual({ type: 'json_object' })
  expect(ofChat({}, { answerFormats: 'none' })).toBeUndefined()
  const gemini = { formatWithoutToolsModels: ['gemini-2'] }
  expect(ofChat({}, gemini, 'gemini-2.5-pro')).toBeUndefined()
  expect(ofChat({ tools: [] }, gemini, 'gemini-2.5-pro')).toBeDefined()
  const ofResponses = (over: object) => responses(request('gpt-5', over), { ...parts, summaries: false }).text
  expect(ofResponses({})).toEqual({ format: { type: 'json_schema', ...named } })
  expect(ofResponses(json)).toEqual({ format: { type: 'json_object' } })
  const ofClaude = (model: string, over = {}) =>
    anthropic(request(model, over), { stamp, streaming: false, cacheTtl: '5m' }).output_config
  expect(ofClaude('claude-sonnet-5-5')).toEqual({ format: { type: 'json_schema', schema: closed } })
  expect(ofClaude('claude-sonnet-5-5', { reasoningEffort: 'low' })).toMatchObject({ effort: 'low', format: {} })
  expect([ofClaude('claude-opus-4-1'), ofClaude('claude-sonnet-5-5', json)]).toEqual([undefined, undefined])
  const ofBedrock = (model: string) =>
    bedrock(request(model), { stamp, cacheTtl: '5m', uncached: true }).outputConfig?.textFormat
  expect(ofBedrock('amazon.nova-pro-v1:0')).toBeUndefined()
  expect(ofBedrock('us.anthropic.claude-sonnet-5-5')).toEqual({
    type: 'json_schema',
    structure: { jsonSchema: { name: 'city', schema: JSON.stringify(closed) } },
  })
})

it('changes nothing before it: messages, tools and system text keep their bytes', () => {
  const prefix = (body: object) => {
    const { model, messages, system, input, instructions, tools: defined } = body as Record<string, unknown>
    return JSON.stringify([model, messages, system, input, instructions, defined])
  }
  const all = [
    (over: object) => chat(request('gpt-5', over), parts),
    (over: object) => responses(request('gpt-5', over), { ...parts, summaries: false }),
    (over: object) => anthropic(request('claude-sonnet-5-5', over), { stamp, streaming: false, cacheTtl: '5m' }),
  ]
  for (const body of all)
    expect(prefix(body({ toolChoice: { name: 'look' } }))).toBe(prefix(body({ answerFormat: undefined })))
})

it('has one tool called by its name on each wire, but not of a model that thinks and cannot be made to', () => {
  const toolChoice: ToolChoice = { name: 'look' }
  const claude = (over = {}) =>
    anthropic(request('claude-opus-4-5', { toolChoice, ...over }), { stamp, streaming: false, cacheTtl: '5m' })
  expect((chat(request('gpt-5', { toolChoice }), parts) as JsonObject)['tool_choice']).toEqual({
    type: 'function',
    function: { name: 'look' },
  })
  expect(responses(request('gpt-5', { toolChoice }), { ...parts, summaries: false }).tool_choice).toEqual({
    type: 'function',
    name: 'look',
  })
  expect(claude().tool_choice).toEqual({ type: 'tool', name: 'look' })
  expect(claude({ reasoningEffort: 'low' }).tool_choice).toEqual({ type: 'auto' })
  const converse = bedrock(request('amazon.nova-pro-v1:0', { toolChoice }), { stamp, cacheTtl: '5m', uncached: true })
  expect(converse.toolConfig?.toolChoice).toEqual({ tool: { name: 'look' } })
})

it('closes a schema for Claude, and sends none that closing would change or that goes round', () => {
  const tree = {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  }
  const open = { type: 'object', properties: { names: { type: 'object', additionalProperties: { type: 'string' } } } }
  expect([closedSchema(tree), closedSchema(open), closedSchema({ type: 'object' })]).toEqual([null, null, null])
  const either: JsonObject = { oneOf: [{ type: 'string', format: 'email', maxLength: 9 }, { $ref: '#/$defs/a' }] }
  expect(closedSchema({ ...either, $defs: { a: { type: 'string', format: 'color' } } })).toEqual({
    anyOf: [{ type: 'string', format: 'email' }, { $ref: '#/$defs/a' }],
    $defs: { a: { type: 'string' } },
  })
})

it('sends Claude no schema that nothing fits once its parts are closed', () => {
  const of = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })
  const ref = { $ref: '#/$defs/a', $defs: { a: of('a') } }
  for (const schema of [
    { allOf: [of('a'), of('b')] },
    { allOf: [{ $ref: '#/$defs/a' }, { minProperties: 1 }], $defs: { a: of('a') } },
    { ...of('a'), anyOf: [of('b'), of('c')] },
    { ...of('a'), oneOf: [{ required: ['a'] }] },
    { ...of('b'), ...ref },
    { anyOf: [of('a')], oneOf: [of('b')] },
    { ...of('a'), additionalProperties: true },
    { ...of('a'), required: ['a', 'b'] },
    { type: ['object', 'null'] },
    { type: 'array', items: { allOf: [of('a'), of('b')] } },
  ] as readonly JsonObject[])
    expect(closedSchema(schema), JSON.stringify(schema)).toBeNull()
  const closedOf = (name: string) => ({ ...of(name), additionalProperties: false })
  expect(closedSchema({ anyOf: [of('a'), of('b')] })).toEqual({ anyOf: [closedOf('a'), closedOf('b')] })
  expect(closedSchema({ allOf: [{ $ref: '#/$defs/a' }], $defs: { a: of('a') } })).toMatchObject({
    $defs: { a: closedOf('a') },
  })
  expect(closedSchema({ allOf: [{ type: 'string' }, { enum: ['x'] }] })).not.toBeNull()
})
