import { HermesError } from '@hermes/contracts'

const MOST_BYTES = 32 * 1024 * 1024
const NEWLINE = 10

/** A `fetch` whose answers end with an error once they hold more than `mostBytes` (default 32 MB), or, of events, once one of their lines does. */
export function limitedFetch(send: typeof globalThis.fetch, mostBytes = MOST_BYTES): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await send(input, init)
    if (!response.body) return response
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const { status, statusText, headers } = response
    const body = response.body.pipeThrough(limit(isStream, mostBytes))
    const limited = new Response(body, { status, statusText, headers })
    // Redirects are judged by where an answer came from.
    Object.defineProperty(limited, 'url', { value: response.url })
    return limited
  }
}

function limit(isStream: boolean, mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      const at = isStream ? chunk.lastIndexOf(NEWLINE) : -1
      bytes = at < 0 ? bytes + chunk.length : chunk.length - at
      if (bytes > mostBytes) {
        const message = `The server sent a message of more than ${mostBytes / 1024 / 1024} MB.`
        controller.error(new HermesError(message, { code: 'mcp.too_large' }))
      } else controller.enqueue(chunk)
    },
  })
}
