// The body of a run, told as a request for a response.
import * as z from 'zod'
import { parseBody, refusedAs } from '../body.js'
import { parseResponsesRequest, type ResponsesRequest } from '../responses-request.js'

// Loaded by the first request, as the library that reads it is.

const item = z.record(z.string(), z.unknown())

export const runBody = z.looseObject({
  input: z.union([z.string(), z.array(item)], 'string or an array of items'),
  session_id: z.string().nullish(),
  conversation_history: z.array(item).nullish(),
  tools: z
    .array(z.unknown())
    .max(0, refusedAs('unsupported_parameter', 'is not supported here: nobody waits to carry out calls of a run.'))
    .nullish(),
})

/** @throws ApiError 400 naming the field */
export function parseRunRequest(text: string): ResponsesRequest {
  const {
    input,
    session_id: session,
    conversation_history: history,
    stream: _,
    background: _b,
    ...body
  } = parseBody(runBody, text)
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const conversation = session ?? body['conversation']
  return parseResponsesRequest(JSON.stringify({ ...body, input: [...(history ?? []), ...items], conversation }))
}
