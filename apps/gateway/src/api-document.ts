// The OpenAPI document, made from the schemas that requests are read with and from those of the answers.
import * as z from 'zod'
import { chatBody } from './chat-request.js'
import { responsesBody } from './responses-request.js'
import { ROUTES, type Route } from './routes.js'
import { runBody } from './runs/run-request.js'

// Loaded by the first request for it, as the library that reads schemas is.

const text = z.string()
const count = z.int().min(0)
const listOf = (data: z.ZodType) =>
  z.object({ object: z.literal('list'), data: z.array(data), has_more: z.boolean().optional() })

const toolCall = z.object({
  id: text,
  type: z.literal('function'),
  function: z.object({ name: text, arguments: text }),
})
const chatCompletion = z.object({
  id: text,
  object: z.literal('chat.completion'),
  created: count,
  model: text,
  choices: z.array(
    z.object({
      index: count,
      message: z.object({
        role: z.literal('assistant'),
        content: text.nullable(),
        reasoning_content: text.optional(),
        refusal: z.null(),
        tool_calls: z.array(toolCall).optional(),
      }),
      logprobs: z.null(),
      finish_reason: z.enum(['stop', 'length', 'content_filter', 'tool_calls']),
    }),
  ),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  hermes: z.object({ session_id: text.nullable(), status: text }),
})
const response = z.object({
  id: text,
  object: z.literal('response'),
  created_at: count,
  model: text,
  status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
  output: z.array(z.looseObject({ id: text, type: z.enum(['message', 'reasoning', 'function_call']) })),
  previous_response_id: text.nullable(),
  usage: z.object({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable(),
})
const run = z.object({
  object: z.literal('hermes.run'),
  run_id: text,
  status: z.enum([
    ...[
      'started',
      'running',
      'waiting_for_approval',
      'waiting_for_answer',
      'stopping',
      'completed',
      'failed',
      'cancelled',
    ],
  ] as const),
  session_id: text.nullable(),
  model: text,
  created_at: count,
  started_at: count.nullable(),
  completed_at: count.nullable(),
  output: text.nullable(),
  finish_reason: text.nullable(),
  error: z.object({ code: text, message: text }).nullable(),
  usage: z.object({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable(),
  approvals: z.array(z.looseObject({ id: text })),
  question: z.looseObject({ id: text }).nullable(),
})
const session = z.object({
  id: text,
  object: z.literal('session'),
  source: text,
  title: text.nullable(),
  model: text.nullable(),
  provider: text.nullable(),
  parent_session_id: text.nullable(),
  started_at_ms: count,
  last_active_at_ms: count,
  ended_at_ms: count.nullable(),
  message_count: count,
  preview: text,
})
const model = z.object({ id: text, object: z.literal('model'), created: count, owned_by: text })

/** The requests, as they are read. */
const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  ChatRequest: chatBody,
  ResponseRequest: responsesBody,
  RunRequest: runBody,
  Action: z.object({ text: text.optional(), choice: text.optional(), approval_id: text.optional() }),
  SessionChange: z.object({ title: text.min(1).max(200).nullable() }),
  Fork: z.object({ title: text.max(200).nullish(), up_to: z.int().min(1).nullish() }),
}

const ANSWERS: Readonly<Record<string, z.ZodType>> = {
  ChatCompletion: chatCompletion,
  Response: response,
  Run: run,
  Runs: listOf(run),
  Session: session,
  Sessions: listOf(session),
  Deleted: z.object({ id: text, object: z.literal('session.deleted'), deleted: z.literal(true) }),
  Skills: listOf(z.object({ object: z.literal('skill'), name: text, group: text, description: text, source: text })),
  Model: model,
  Models: listOf(model),
  List: listOf(z.looseObject({})),
  Object: z.looseObject({}),
  Health: z.object({ status: z.enum(['ok', 'degraded']), version: text }),
  Error: z.object({
    error: z.object({ message: text, type: text, param: text.nullable(), code: text }),
  }),
}

/** Everything that clients may send and get, as OpenAPI 3.1 has it. */
export function apiDocument(version: string): object {
  const schemas = Object.fromEntries([
    ...Object.entries(REQUESTS).map(([name, schema]) => [name, toJsonSchema(schema, 'input')] as const),
    ...Object.entries(ANSWERS).map(([name, schema]) => [name, toJsonSchema(schema, 'output')] as const),
  ])
  const paths: Record<string, Record<string, object>> = {}
  for (const route of ROUTES)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) }
  return {
    openapi: '3.1.0',
    info: { title: 'Hermes gateway', version, description: 'An agent behind the API of OpenAI, and more of it.' },
    paths,
    components: { schemas, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
  }
}

/** Fields that are there for the client alone: further ones may come. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return rest
}

function operationOf({ method, path, scope, summary, body, answer, status = 200, query = [] }: Route): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...query.map((name) => ({ name, in: 'query', required: name === 'q', schema: { type: 'string' } })),
  ]
  const plain = path === '/metrics' ? { 'text/plain': {} } : { 'text/event-stream': {} }
  const content = answer === undefined ? plain : { 'application/json': { schema: refTo(answer) } }
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^a-zA-Z0-9]+(\w)?/g, (_, next: string | undefined) => (next ?? '').toUpperCase())}`,
    summary,
    ...(scope === 'none' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: refTo(body) } } } }),
    responses: {
      [String(status)]: {
        description: 'The answer.',
        content,
      },
      default: { description: 'Why not.', content: { 'application/json': { schema: refTo('Error') } } },
    },
  }
}

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
