import { errorLine, isAbort, type Logger, silentLogger } from '@hermes/contracts'
import { messageText } from '@hermes/contracts/conversation'
import type { CallScope, ModelClient, ModelEvent, ModelRequest, StreamOptions } from '@hermes/contracts/model'
import { askModel } from '../ask.js'
import { keepNewest } from '../keep-newest.js'
import { type Advice, forAdvisers, withAdvice } from './advice.js'

/** Several models that think together. */
export interface MixtureOfAgentsOptions {
  /** What the mixture is called. */
  readonly provider: string
  readonly model: string
  /** Asked side by side at the beginning of a turn, without tools. At least one. */
  readonly references: readonly ModelClient[]
  /** Answers, with the tools, having read what the others said. */
  readonly aggregator: ModelClient
  /** How long the references may take together. Default 120,000. */
  readonly timeoutMs?: number
  /** Told of each reference once it has answered or failed. What it throws is logged. */
  readonly onReference?: ((outcome: ReferenceOutcome) => void) | undefined
  readonly logger?: Logger
}

/** What became of one reference. */
export interface ReferenceOutcome {
  readonly provider: string
  readonly model: string
  /** What it said; `null` when it failed or took too long. */
  readonly text: string | null
  /** What kept it from answering, in one line; `null` when nothing did. */
  readonly error: string | null
}

type ClientRequest = Omit<ModelRequest, 'model'> & { readonly model?: string }

const DEFAULT_TIMEOUT_MS = 120_000

/** What is worth asking several for: turns of a conversation, and questions put to the mixture as such. */
const MIXED: ReadonlySet<string> = new Set(['turn', 'moa'])

/**
 * A model client in front of several models: the references are asked once per turn, and what they say goes to the aggregator at the
 * end of the message that began it, for all calls of that turn alike. References that fail or take too long are left out; without any the
 * aggregator answers alone. Auxiliary tasks go to the aggregator directly.
 */
export function createMixtureOfAgentsClient(options: MixtureOfAgentsOptions): ModelClient {
  return new MixtureOfAgentsClient(options)
}

/** What was said in a turn, and the user message it belongs to. */
interface TurnAdvice {
  readonly index: number
  readonly advice: readonly Advice[]
}

class MixtureOfAgentsClient implements ModelClient {
  readonly provider: string
  readonly model: string
  readonly #options: MixtureOfAgentsOptions
  readonly #turns = new Map<string, TurnAdvice>()

  constructor(options: MixtureOfAgentsOptions) {
    this.provider = options.provider
    this.model = options.model
    this.#options = options
  }

  async *stream(request: ClientRequest, options: StreamOptions & CallScope): AsyncGenerator<ModelEvent> {
    const { aggregator } = this.#options
    if (!MIXED.has(options.purpose)) {
      yield* aggregator.stream(request, options)
      return
    }
    const { index, advice } = await this.#adviceFor(request, options)
    yield* aggregator.stream({ ...request, messages: withAdvice(request.messages, index, advice) }, options)
  }

  async #adviceFor(request: ClientRequest, options: StreamOptions & CallScope): Promise<TurnAdvice> {
    const { turnId } = options
    const known = turnId === undefined ? undefined : this.#turns.get(turnId)
    if (known && request.messages[known.index]?.role === 'user') return known
    const index = request.messages.findLastIndex(({ role }) => role === 'user')
    const turn = { index, advice: await this.#gather(request, options) }
    if (turnId !== undefined) keepNewest(this.#turns, turnId, turn)
    return turn
  }

  async #gather(
    request: ClientRequest,
    { signal, sessionId, turnId, root }: StreamOptions & CallScope,
  ): Promise<readonly Advice[]> {
    const { references, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const messages = forAdvisers(request.messages)
    const limit = AbortSignal.timeout(timeoutMs)
    const scope = {
      purpose: 'moa.reference',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(turnId === undefined ? {} : { turnId }),
      ...(root === undefined ? {} : { root }),
    }
    const requested = references.map(async (reference): Promise<readonly Advice[]> => {
      const { provider, model } = reference
      const failed = (error: unknown) => {
        if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
        const line = isAbort(error) ? `it took longer than ${timeoutMs / 1_000} s` : errorLine(error)
        this.#tell({ provider, model, text: null, error: line })
        return []
      }
      const answer = askModel(reference, { messages, tools: [] }, scope).then(({ message }) => {
        const text = messageText(message)
        this.#tell({ provider, model, text, error: null })
        return text.trim() === '' ? [] : [{ model, text }]
      })
      return answer.catch(failed)
    })
    return (await Promise.all(requested)).flat()
  }

  #tell(outcome: ReferenceOutcome): void {
    const { logger = silentLogger, onReference } = this.#options
    const { model, error } = outcome
    if (error !== null) logger.warn('A reference model gave no advice.', { model, error })
    try {
      onReference?.(outcome)
    } catch (thrown) {
      logger.error('An observer of a mixture threw.', { error: errorLine(thrown) })
    }
  }
}
