// Answers in the shapes of the OpenAI API. What is ours stands under `hermes`, which other clients skip.
import type { Denial, NoticeText, RunResult } from '@hermes/agent-core'
import { addUsage, noUsage, type Usage } from '@hermes/contracts/conversation'
import { ApiError, failedRun } from './api-error.js'
import type { ChatRequest } from './chat-request.js'
import type { ClientCall } from './client-tools.js'
import type { CommandReport, ReplyReader, ToolProgress } from './reply.js'
import type { ResponsePlace } from './response-id.js'
import { type KeptApproval, type KeptQuestionText, questionText, waitingText } from './waiting.js'

/** What all parts of one answer share. */
export interface Envelope {
  readonly id: string
  /** Unix time in seconds. */
  readonly created: number
  readonly model: string
}

/** How a run ended, in a client's terms. */
export interface Ending {
  /** The final answer. */
  readonly text: string
  /** What the model thought on the way; empty where nothing is known of it. */
  readonly thoughts: string
  /** What a run that parked waits for, said after all else; empty where it waits for nothing. */
  readonly waiting: string
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls'
  /** What the client is to carry out; empty where it is done. */
  readonly calls: readonly ClientCall[]
  /** With that of delegated tasks. */
  readonly usage: Usage
  readonly hermes: {
    /** `null` where no session has begun. */
    readonly session_id: string | null
    readonly status: RunResult['status']
    /** Calls the policy did not allow, those of delegated tasks and programs included: nobody can be asked over HTTP. */
    readonly denied: readonly Denial[]
    /** What needs a yes that nobody gave yet; left out when nothing does. */
    readonly approvals?: readonly KeptApproval[]
    /** What the model asks; the next message of the session answers it. Left out when it asks nothing. */
    readonly question?: KeptQuestionText
    /** What the person was to be told beside the answer; left out when nothing was. */
    readonly notices?: readonly NoticeText[]
    /** The command that the message was; left out when a model was asked. */
    readonly command?: CommandReport
  }
}

/** What is known beside the result once a reply is over. */
export interface ReplySummary
  extends Pick<ReplyReader, 'approvals' | 'question' | 'denials' | 'notices' | 'isCutOff' | 'unheard'>,
    Partial<Pick<ReplyReader, 'thoughts' | 'calls' | 'isStructured'>> {
  readonly command?: CommandReport | undefined
}

/** What is known once a run is over. */
interface EndingOptions {
  readonly sessionId: string | null
  readonly result: RunResult
  readonly reader: ReplySummary
}

/**
 * How a run ended; where nothing was said because calls were denied, that is what is said.
 * @throws ApiError when it gave no answer
 */
export function toEnding({ sessionId, result, reader }: EndingOptions): Ending {
  const { status, error } = result
  const { approvals, question, denials, notices, isCutOff, unheard, command, thoughts = '', isStructured } = reader
  const calls = status === 'parked' ? (reader.calls ?? []) : []
  const open = status === 'parked' && question ? { id: result.pending?.[0] ?? '', ...question } : null
  const isAnswer = status === 'completed' || status === 'stopped' || status === 'parked'
  const isSilent = error?.code === 'agent.empty_reply' && denials.length > 0 && !isStructured
  if (!isAnswer && !isSilent) throw noAnswer(result)
  const waiting = open ? questionText(open) : status === 'parked' ? waitingText(approvals.filter(isParked)) : ''
  const isLimit = isCutOff || (status === 'stopped' && error?.code !== 'agent.content_filter')
  const reasons = isStructured ? '' : denials.map(({ reason }) => reason).join('\n')
  const words = isSilent || result.text === '' ? reasons : result.text
  // Who reads data would take the words for it.
  const text = isStructured && (calls.length > 0 || waiting !== '') ? '' : words
  return {
    text: unheard === '' ? text : `${unheard}\n\n${text}`,
    thoughts,
    waiting: isStructured && calls.length > 0 ? '' : waiting,
    finishReason:
      calls.length > 0
        ? 'tool_calls'
        : error?.code === 'agent.content_filter'
          ? 'content_filter'
          : isLimit
            ? 'length'
            : 'stop',
    calls,
    usage: addUsage(result.usage, result.delegated ?? noUsage),
    hermes: {
      session_id: sessionId,
      status,
      denied: denials,
      ...(approvals.length > 0 ? { approvals } : {}),
      ...(open ? { question: open } : {}),
      ...(notices.length > 0 ? { notices } : {}),
      ...(command ? { command } : {}),
    },
  }
}

/**
 * The same for who waits for the answer and for nothing else.
 * @throws ApiError when it gave no answer; 409 where the answer is to be data, and the run waits for somebody
 */
export function toAnswer(options: EndingOptions): Ending {
  const ending = toEnding(options)
  if (options.reader.isStructured && ending.waiting !== '') throw new ApiError(ending.waiting, PARKED)
  return ending
}

const PARKED = { status: 409, code: 'run_parked', headers: { 'x-should-retry': 'false' } } as const

const isParked = ({ status }: KeptApproval): boolean => status === 'parked'

function noAnswer({ status, error }: RunResult): ApiError {
  if (error) return failedRun(error)
  const message = `The run was ${status} before there was an answer; the session can go on.`
  return new ApiError(message, { status: 503, code: `run_${status}` })
}

/** The answer as one body. */
export function completionBody({ id, created, model }: Envelope, ending: Ending) {
  const { text, thoughts, waiting, finishReason, calls, usage, hermes } = ending
  const content = [text, waiting].filter((part) => part !== '').join('\n\n')
  const reasoning = thoughts === '' ? {} : { reasoning_content: thoughts }
  const tool_calls = calls.map(wireCall)
  const message = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...reasoning,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls } : {}),
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: wireUsage(usage),
    hermes,
  }
}

/** Writes what of a reply is streamed, in the form a client reads. */
export interface ReplyWriter {
  begin(): string
  text(content: string): string
  thought(text: string): string
  tool(progress: ToolProgress): string
  notice(notice: NoticeText): string
  command(command: CommandReport): string
  approval(approval: KeptApproval): string
  end(ending: Ending): string
  /** What official clients take for an error. */
  fail(error: ApiError): string
}

/** How an answer is told. */
export interface ReplyForm {
  /** The id of an answer. */
  id(place: ResponsePlace | null): string
  writer(envelope: Envelope, request: Pick<ChatRequest, 'includeUsage'>): ReplyWriter
  body(envelope: Envelope, ending: Ending): object
}

/** Writes the chunks of a streamed answer. */
export class ChunkWriter implements ReplyWriter {
  readonly #envelope: Envelope
  readonly #includeUsage: boolean

  constructor(envelope: Envelope, options: { readonly includeUsage: boolean }) {
    this.#envelope = envelope
    this.#includeUsage = options.includeUsage
  }

  begin(): string {
    return this.#chunk({ delta: { role: 'assistant', content: '', refusal: null } })
  }

  text(content: string): string {
    return this.#chunk({ delta: { content } })
  }

  /** As DeepSeek's servers send it; clients that know no such field skip it. */
  thought(text: string): string {
    return this.#chunk({ delta: { reasoning_content: text } })
  }

  /** An event of its own name, and a chunk without text for clients that take every event for one. */
  tool(progress: ToolProgress): string {
    return `event: hermes.tool.progress\n${this.#chunk({ delta: {}, hermes: { tool: progress } })}`
  }

  notice(notice: NoticeText): string {
    return `event: hermes.notice\n${this.#chunk({ delta: {}, hermes: { notice } })}`
  }

  command(command: CommandReport): string {
    return `event: hermes.command\n${this.#chunk({ delta: {}, hermes: { command } })}`
  }

  approval(approval: KeptApproval): string {
    return `event: hermes.approval\n${this.#chunk({ delta: {}, hermes: { approval } })}`
  }

  end({ finishReason, calls, usage, hermes }: Ending): string {
    const { id, created, model } = this.#envelope
    const base = { id, object: 'chat.completion.chunk', created, model }
    const tool_calls = calls.map((call, index) => ({ index, ...wireCall(call) }))
    const wanted = calls.length > 0 ? this.#chunk({ delta: { tool_calls } }) : ''
    const last = this.#chunk({ delta: {}, finishReason, hermes })
    const totals = this.#includeUsage ? line({ ...base, choices: [], usage: wireUsage(usage) }) : ''
    return `${wanted}${last}${totals}data: [DONE]\n\n`
  }

  /** What official clients throw as an error. */
  fail(error: ApiError): string {
    return `${line(error.body)}data: [DONE]\n\n`
  }

  #chunk(of: { readonly delta: object; readonly finishReason?: string; readonly hermes?: object }): string {
    const { id, created, model } = this.#envelope
    return line({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: [{ index: 0, delta: of.delta, logprobs: null, finish_reason: of.finishReason ?? null }],
      ...(this.#includeUsage ? { usage: null } : {}),
      ...(of.hermes ? { hermes: of.hermes } : {}),
    })
  }
}

function wireCall({ id, name, arguments: text }: ClientCall) {
  return { id, type: 'function', function: { name, arguments: text } }
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function wireUsage(usage: Usage) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}
