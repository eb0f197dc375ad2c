const SENTINEL = '[DONE]'
const KEPT_BYTES = 32
const DRAIN_MS = 1_000

/**
 * A response whose body is watched for the sentinel that ends a complete stream; the SDK takes it out without a word and then leaves.
 * What follows the sentinel is read off for a second at most, so that the connection can serve the next request.
 */
export function watchDone(response: Response): { readonly response: Response; readonly done: () => boolean } {
  let tail: Uint8Array = new Uint8Array()
  const done = () => new TextDecoder().decode(tail).includes(SENTINEL)
  const reader = response.body?.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await reader?.read()
        if (!piece || piece.done) return controller.close()
        tail = piece.value.length >= KEPT_BYTES ? piece.value.subarray(-KEPT_BYTES) : join(tail, piece.value)
        controller.enqueue(piece.value)
      },
      cancel: (reason) => {
        if (reader && done()) drain(reader)
        else return reader?.cancel(reason)
        return undefined
      },
    },
    { highWaterMark: 0 },
  )
  return { response: new Response(body, { headers: response.headers }), done }
}

function drain(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const leave = () => {
    reader.cancel().catch(() => undefined)
  }
  const readOff = async () => {
    while (!(await reader.read()).done);
  }
  AbortSignal.timeout(DRAIN_MS).addEventListener('abort', leave, { once: true })
  readOff().catch(() => undefined)
}

function join(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  const joined = new Uint8Array(tail.length + chunk.length)
  joined.set(tail)
  joined.set(chunk, tail.length)
  return joined.slice(-KEPT_BYTES)
}
