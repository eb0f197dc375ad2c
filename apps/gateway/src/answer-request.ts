// What a client demands of the form of an answer, and of calls to its tools.
import type { AnswerDemands } from '@hermes/agent-core'
import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { AnswerFormat, ToolChoice } from '@hermes/contracts/model'
import * as z from 'zod'
import { ApiError } from './api-error.js'
import { refusedAs } from './body.js'
import { type ClientTool, ownName } from './client-tools.js'

const MOST_STOPS = 4

const schemaFormat = z
  .object({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'has to be 1 to 64 letters, digits, "_" or "-".'),
    description: z.string().nullish(),
    schema: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  })
  .transform(({ name, description, schema, strict }): AnswerFormat => {
    return {
      type: 'json-schema',
      name,
      ...(typeof description === 'string' ? { description } : {}),
      schema: (schema ?? { type: 'object' }) as JsonObject,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    }
  })

/** `response_format`; `null` for plain text. */
export const responseFormat = z
  .discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text') }).transform((): AnswerFormat | null => null),
      z.object({ type: z.literal('json_object') }).transform((): AnswerFormat | null => ({ type: 'json' })),
      z
        .object({ type: z.literal('json_schema'), json_schema: schemaFormat })
        .transform(({ json_schema }): AnswerFormat | null => json_schema),
    ],
    'has to be text, json_object or json_schema.',
  )
  .nullish()

const oneStop = z.string().min(1, 'is empty.')

/** `stop`. */
export const stopSequences = z
  .union([oneStop, z.array(oneStop)], 'string or an array')
  .transform((stop): readonly string[] => (typeof stop === 'string' ? [stop] : stop))
  .refine((stops) => stops.length <= MOST_STOPS, refusedAs('invalid_value', `has to be at most ${MOST_STOPS} texts.`))
  .nullish()

/** `tool_choice`. */
export const toolChoice = z
  .union(
    [
      z.enum(['none', 'auto', 'required']),
      z
        .object({ type: z.literal('function'), function: z.object({ name: z.string() }) })
        .transform(({ function: { name } }): ToolChoice => ({ name })),
    ],
    refusedAs('invalid_value', 'has to be none, auto, required, or a function of the tools by its name.'),
  )
  .nullish()

/** What the next answer has to be, by the names the model knows. */
export interface AnswerRequest extends AnswerDemands {
  /** Whether the model may call tools of the client. */
  readonly mayCall: boolean
}

/** @throws ApiError 400 where a tool is to be called that there is not */
export function answerRequest(
  body: {
    readonly response_format?: AnswerFormat | null | undefined
    readonly stop?: readonly string[] | null | undefined
    readonly tool_choice?: ToolChoice | null | undefined
  },
  tools: readonly ClientTool[],
): AnswerRequest {
  const { response_format: format, stop, tool_choice: choice } = body
  const calls = callsOf(choice ?? 'auto', tools)
  return {
    mayCall: choice !== 'none',
    ...(format ? { format } : {}),
    ...(stop && stop.length > 0 ? { stop } : {}),
    ...(calls.length > 0 ? { calls } : {}),
  }
}

function callsOf(choice: ToolChoice, tools: readonly ClientTool[]): readonly string[] {
  if (choice === 'auto' || choice === 'none') return []
  const chosen = tools.filter(({ name }) => choice === 'required' || name === choice.name)
  if (chosen.length > 0) return chosen.map(({ name }) => ownName(name))
  const message =
    choice === 'required'
      ? "'tool_choice' is required, but the request has no tools."
      : `'tool_choice' names ${JSON.stringify(choice.name)}, which is none of the tools of the request.`
  throw new ApiError(message, { code: 'invalid_value', param: 'tool_choice' })
}

/** A choice as the other form of the API has it. */
export function flatChoice(choice: JsonValue): JsonValue {
  if (typeof choice !== 'object' || choice === null || Array.isArray(choice)) return choice
  const { type = null, name = null } = choice as JsonObject
  return type === 'function' ? { type, function: { name } } : choice
}
