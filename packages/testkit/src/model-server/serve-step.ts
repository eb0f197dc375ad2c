import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerContext, ServedWire } from './served-wire.js'
import type { AnswerStep, FaultStep, ModelStep } from './step.js'

/** Answers one request as a turn says, on its wire. */
export async function serveStep(
  wire: ServedWire,
  response: ServerResponse,
  step: ModelStep,
  request: Omit<AnswerContext, 'step'>,
): Promise<void> {
  if ('fault' in step) return fail(wire, response, step, request)
  if (step.latencyMs) await sleep(step.latencyMs)
  if (!request.body.stream) return sendJson(response, 200, wire.whole({ ...request, step }))
  const chunks = wire.stream({ ...request, step })
  const encoding = startStream(wire, response)
  if (!step.latencyMs) {
    response.end(chunks.join(''), encoding)
    return
  }
  for (const chunk of chunks) {
    if (response.destroyed) return
    response.write(chunk, encoding)
    await sleep(step.latencyMs)
  }
  response.end()
}

/** Sends a body of JSON; text goes out as it is. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted', ...headers })
  response.end(text)
}

function fail(wire: ServedWire, response: ServerResponse, step: FaultStep, request: Omit<AnswerContext, 'step'>): void {
  const partly = (answer: AnswerStep, count: number, next: (sent: string) => void) => {
    const encoding = startStream(wire, response)
    response.flushHeaders()
    const pieces = wire.stream({ ...request, step: answer }).slice(0, count)
    const sent = pieces.join('')
    response.write(sent, encoding, () => next(sent))
  }
  switch (step.fault) {
    case 'status': {
      const headers: Record<string, string> = { ...wire.refusalHeaders?.(step.status), ...step.headers }
      if (step.retryAfterSeconds !== undefined) headers['retry-after'] = String(step.retryAfterSeconds)
      const body = step.body ?? wire.refusal(step.status, `The scripted server answers with status ${step.status}.`)
      sendJson(response, step.status, body, headers)
      break
    }
    case 'refuse':
      response.destroy()
      break
    case 'html':
      response.writeHead(step.status ?? 200, { 'content-type': 'text/html' })
      response.end('<!doctype html><title>Gateway</title><h1>This is not a model server</h1>')
      break
    case 'no-stream':
      sendJson(response, 200, wire.whole({ ...request, step }))
      break
    case 'cut':
      partly(step, step.afterChunks ?? 2, () => (step.how === 'end' ? response.end() : response.destroy()))
      break
    case 'stall':
      partly(step, step.afterChunks ?? 1, () => undefined)
      break
    case 'malformed':
      partly(step, step.afterChunks ?? 1, () => response.end(wire.garbled, wire.streamEncoding ?? 'utf8'))
      break
    case 'error-event':
      partly(step, step.afterChunks ?? 2, (sent) =>
        response.end(wire.errorEvent(step.type, step.message, sent), wire.streamEncoding ?? 'utf8'),
      )
      break
    default:
      step satisfies never
  }
}

/** Sends the head of a stream and says how its pieces are encoded. */
function startStream(wire: ServedWire, response: ServerResponse): BufferEncoding {
  response.writeHead(200, {
    'content-type': wire.streamType ?? 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': 'req_scripted',
  })
  return wire.streamEncoding ?? 'utf8'
}
