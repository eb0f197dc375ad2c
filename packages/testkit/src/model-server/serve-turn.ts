import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerContext, ServedWire } from './served-wire.js'
import type { AnswerTurn, FaultTurn, ModelTurn } from './turn.js'

/** Answers one request as a turn says, on its wire. */
export async function serveTurn(
  wire: ServedWire,
  response: ServerResponse,
  turn: ModelTurn,
  request: Omit<AnswerContext, 'turn'>,
): Promise<void> {
  if ('fault' in turn) return fail(wire, response, turn, request)
  if (turn.latencyMs) await sleep(turn.latencyMs)
  if (!request.body.stream) return sendJson(response, 200, wire.whole({ ...request, turn }))
  const chunks = wire.stream({ ...request, turn })
  const encoding = startStream(wire, response)
  if (!turn.latencyMs) {
    response.end(chunks.join(''), encoding)
    return
  }
  for (const chunk of chunks) {
    if (response.destroyed) return
    response.write(chunk, encoding)
    await sleep(turn.latencyMs)
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

function fail(wire: ServedWire, response: ServerResponse, turn: FaultTurn, request: Omit<AnswerContext, 'turn'>): void {
  const partly = (answer: AnswerTurn, count: number, next: (sent: string) => void) => {
    const encoding = startStream(wire, response)
    response.flushHeaders()
    const pieces = wire.stream({ ...request, turn: answer }).slice(0, count)
    const sent = pieces.join('')
    response.write(sent, encoding, () => next(sent))
  }
  switch (turn.fault) {
    case 'status': {
      const headers: Record<string, string> = { ...wire.refusalHeaders?.(turn.status), ...turn.headers }
      if (turn.retryAfterSeconds !== undefined) headers['retry-after'] = String(turn.retryAfterSeconds)
      const body = turn.body ?? wire.refusal(turn.status, `The scripted server answers with status ${turn.status}.`)
      sendJson(response, turn.status, body, headers)
      break
    }
    case 'refuse':
      response.destroy()
      break
    case 'html':
      response.writeHead(turn.status ?? 200, { 'content-type': 'text/html' })
      response.end('<!doctype html><title>Gateway</title><h1>This is not a model server</h1>')
      break
    case 'no-stream':
      sendJson(response, 200, wire.whole({ ...request, turn }))
      break
    case 'cut':
      partly(turn, turn.afterChunks ?? 2, () => (turn.how === 'end' ? response.end() : response.destroy()))
      break
    case 'stall':
      partly(turn, turn.afterChunks ?? 1, () => undefined)
      break
    case 'malformed':
      partly(turn, turn.afterChunks ?? 1, () => response.end(wire.garbled, wire.streamEncoding ?? 'utf8'))
      break
    case 'error-event':
      partly(turn, turn.afterChunks ?? 2, (sent) =>
        response.end(wire.errorEvent(turn.type, turn.message, sent), wire.streamEncoding ?? 'utf8'),
      )
      break
    default:
      turn satisfies never
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
