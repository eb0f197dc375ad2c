import { randomUUID } from 'node:crypto'
import type { ReplyForm } from './completion.js'
import { responseId } from './response-id.js'
import { pastBody, ResponseWriter, responseBody } from './response-writer.js'
import type { ResponsesRequest } from './responses-request.js'

/** Answers as responses. */
export function responseForm(about: Pick<ResponsesRequest, 'previous' | 'echo'>): ReplyForm {
  return {
    id: (place) => (place ? responseId(place) : `resp_${randomUUID().replaceAll('-', '')}`),
    writer: (envelope) => new ResponseWriter({ ...envelope, ...about }),
    body: (envelope, ending) => responseBody({ ...envelope, ...about }, ending),
  }
}

const NOTHING: ResponsesRequest['echo'] = {
  instructions: null,
  metadata: {},
  tools: [],
  temperature: null,
  max_output_tokens: null,
  reasoning: { effort: null, summary: null },
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
}

/** A response as the log has it. */
export function pastResponse(
  id: string,
  { atMs, ...spoken }: Parameters<typeof pastBody>[1] & { readonly atMs: number },
  model: string,
): object {
  return pastBody({ id, created: Math.floor(atMs / 1000), model, previous: null, echo: NOTHING }, spoken)
}
