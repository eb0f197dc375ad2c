/** How much of a body that is read whole is waited for. */
interface BodyLimits {
  /** Until the next piece of an answer that comes whole. */
  readonly answerIdleMs: number
  /** Until the next piece of what a refusal says. */
  readonly refusalIdleMs: number
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const MAX_REFUSAL_BYTES = 1024 * 1024

/**
 * A fetch whose bodies end by themselves where they are read whole, which nothing else watches over: refusals, and answers in one piece.
 * A server that never ends one, or goes silent in it, is heard up to there. Streams of events pass as they are. Default of `fetch`: the
 * global one at the time of the call.
 */
export function limitBodies(customFetch: typeof fetch | undefined, limits: BodyLimits): typeof fetch {
  return (input, init) =>
    (customFetch ?? fetch)(input, init).then((response) => {
      if (!response.ok) return limited(response, MAX_REFUSAL_BYTES, limits.refusalIdleMs)
      return isWhole(response) ? limited(response, MAX_ANSWER_BYTES, limits.answerIdleMs) : response
    })
}

function isWhole({ headers }: Response): boolean {
  const type = headers.get('content-type') ?? ''
  return /^[^;]*(?:json|html)/i.test(type) && !/ndjson/i.test(type)
}

function limited(response: Response, maxBytes: number, idleMs: number): Response {
  const { body, status, statusText, headers } = response
  if (body === null) return response
  return new Response(beginning(body, maxBytes, idleMs), { status, statusText, headers })
}

function beginning(body: ReadableStream<Uint8Array>, maxBytes: number, idleMs: number): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let left = maxBytes
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await within(reader.read(), idleMs)
        left -= piece?.value?.length ?? 0
        if (piece?.value && left >= 0) return controller.enqueue(piece.value)
        controller.close()
        // Nobody waits for the end of a connection that says nothing any more.
        if (!piece?.done) reader.cancel().catch(() => undefined)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** `null` when it takes longer. */
function within<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), waitMs)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
