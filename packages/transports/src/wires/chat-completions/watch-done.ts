const SENTINEL = '[DONE]'
const KEPT_BYTES = 32

/** A response whose body is watched for the sentinel that ends a complete stream; the SDK takes it out without a word. */
export function watchDone(response: Response): { readonly response: Response; readonly done: () => boolean } {
  let tail: Uint8Array = new Uint8Array()
  const keep = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      tail = chunk.length >= KEPT_BYTES ? chunk.subarray(-KEPT_BYTES) : join(tail, chunk)
      controller.enqueue(chunk)
    },
  })
  return {
    response: new Response(response.body?.pipeThrough(keep), { headers: response.headers }),
    done: () => new TextDecoder().decode(tail).includes(SENTINEL),
  }
}

function join(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  const joined = new Uint8Array(tail.length + chunk.length)
  joined.set(tail)
  joined.set(chunk, tail.length)
  return joined.slice(-KEPT_BYTES)
}
