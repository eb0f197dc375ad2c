// A request that is sent twice under one key is answered once: who repeats it joins what is under way, or gets what was answered.
import { createHash } from 'node:crypto'
import type { Clock } from '@hermes/contracts'
import { ApiError } from './api-error.js'

const MAX_KEPT = 1_000
const KEEP_MS = 300_000
const KEY = /^[\x21-\x7e]{1,255}$/

/** An answer that can be repeated. */
interface Kept {
  readonly fingerprint: string
  readonly answer: Promise<{ readonly status: number; readonly headers: [string, string][]; readonly text: string }>
  readonly atMs: number
}

/** A request under a key. */
interface IdempotentRequest {
  readonly key: string
  readonly person: string | null
  readonly sessionId?: string | undefined
  readonly body: string
}

/** Answers by their keys, for five minutes, in this process. */
export class Idempotency {
  readonly #clock: Pick<Clock, 'now'>
  readonly #kept = new Map<string, Kept>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /**
   * The answer of `work`, or the one that this key had. What fails is not kept, and who waited for it does the work anew: why the first
   * one failed may be its own connection. Keys of different people have nothing to do with each other.
   * @throws ApiError 400 `invalid_idempotency_key`, 409 `idempotency_key_conflict` for another body or session under the same key
   */
  async once(request: IdempotentRequest, work: () => Promise<Response>): Promise<Response> {
    const { key, person, sessionId, body } = request
    if (!KEY.test(key)) {
      const message = 'Idempotency-Key takes 1 to 255 visible ASCII characters.'
      throw new ApiError(message, { code: 'invalid_idempotency_key' })
    }
    const id = JSON.stringify([person, key])
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([sessionId ?? null, body]))
      .digest('hex')
    this.#forgetOld()
    const known = this.#kept.get(id)
    if (known && known.fingerprint !== fingerprint) {
      const message = 'Another request was sent under this Idempotency-Key; give each request a key of its own.'
      throw new ApiError(message, { status: 409, code: 'idempotency_key_conflict' })
    }
    if (known) {
      const kept = await known.answer.catch(() => null)
      return kept !== null && kept.status < 500 ? toResponse(kept, true) : this.once(request, work)
    }
    const answer = work().then(async (response) => ({
      ...{ status: response.status, headers: [...response.headers] as [string, string][], text: await response.text() },
    }))
    this.#kept.set(id, { fingerprint, answer, atMs: this.#clock.now() })
    try {
      const kept = await answer
      if (kept.status >= 500) this.#kept.delete(id)
      return toResponse(kept, false)
    } catch (error) {
      this.#kept.delete(id)
      throw error
    }
  }

  #forgetOld(): void {
    const beforeMs = this.#clock.now() - KEEP_MS
    for (const [id, { atMs }] of this.#kept) {
      if (atMs >= beforeMs && this.#kept.size < MAX_KEPT) return
      this.#kept.delete(id)
    }
  }
}

function toResponse({ status, headers, text }: Awaited<Kept['answer']>, isReplay: boolean): Response {
  const replayed: [string, string][] = isReplay ? [['idempotency-replayed', 'true']] : []
  return new Response(text, { status, headers: [...headers, ...replayed] })
}
