import type { Logger } from '@hermes/contracts'
import { errorLine, isAbort, silentLogger } from '@hermes/contracts'
import type { Message, TextPart, Usage, UserMessage } from '@hermes/contracts/conversation'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type {
  CallScope,
  ModelClient,
  ModelEvent,
  ModelRequest,
  PrefixCache,
  StreamOptions,
} from '@hermes/contracts/model'
import { askModel } from '../ask.js'
import { keepNewest } from '../keep-newest.js'

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

  async prefixCache(request: ClientRequest, used: Usage, scope: CallScope): Promise<PrefixCache | null> {
    const turn = scope.turnId === undefined ? undefined : this.#turns.get(scope.turnId)
    if (!turn) return null
    const { index, advice } = turn
    const advised = { ...request, messages: withAdvice(request.messages, index, advice) }
    return (await this.#options.aggregator.prefixCache?.(advised, used, scope)) ?? null
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

const MAX_RESULT_CHARS = 2_000
const MAX_ARGUMENT_CHARS = 500

const ADVISER =
  'You advise another model, which has the tools and gives the answer. Read the conversation, then say how you would answer the last message: your conclusion, the reasons that matter, what is easily got wrong. You cannot call tools; calls and their results are shown as text.'

/** A conversation as models without tools can read it: calls and results as text, nothing that only one endpoint understands. Pure. */
function forAdvisers(messages: readonly Message[]): readonly Message[] {
  const system: Message = { role: 'system', content: [{ type: 'text', text: ADVISER }] }
  return [system, ...messages.flatMap(toPlain)]
}

function toPlain(message: Message): readonly Message[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [message]
    case 'assistant': {
      const calls = toolCalls(message).map(
        ({ name, rawArgs }) => `[called ${name} ${cut(rawArgs, MAX_ARGUMENT_CHARS)}]`,
      )
      const text = [messageText(message), ...calls].filter((line) => line.trim() !== '').join('\n')
      return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text }] }]
    }
    case 'tool': {
      const text = message.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')
      const line = `[result of ${message.toolName}: ${cut(text, MAX_RESULT_CHARS)}]`
      return [{ role: 'user', content: [{ type: 'text', text: line, origin: 'external' }] }]
    }
    default:
      return message satisfies never
  }
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)} …` : text
}

/** What one adviser said. */
interface Advice {
  readonly model: string
  readonly text: string
}

/** The conversation with `advice` at the end of the user message at `index`; as it is where there is no advice. Pure. */
function withAdvice(messages: readonly Message[], index: number, advice: readonly Advice[]): readonly Message[] {
  const message = messages[index]
  if (advice.length === 0 || message?.role !== 'user') return messages
  const part: TextPart = { type: 'text', text: adviceText(advice), origin: 'reminder' }
  const advised: UserMessage = { ...message, content: [...message.content, part] }
  return messages.with(index, advised)
}

function adviceText(advice: readonly Advice[]): string {
  const text = advice.map(
    ({ model, text }, index) => `<advice from="${index + 1}: ${model}">\n${text.trim()}\n</advice>`,
  )
  return `Other models were asked the same. Weigh what they say, keep what holds, and answer yourself; do not mention them.\n\n${text.join('\n\n')}`
}
