import { type Clock, HermesError } from '@hermes/contracts'
import type { Message, UserPart } from '@hermes/contracts/conversation'
import type { ModelFinish } from '@hermes/contracts/model'
import type { ToolContext } from '@hermes/contracts/tool'
import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client'
import type { ServerSettings } from '../settings/server-settings.js'

/** What is asked of a model on behalf of a server. */
export interface SampleRequest {
  readonly sessionId: string
  readonly server: string
  /** The models that may answer, with their provider (`openai/gpt-5`) or without. Empty: any. */
  readonly models: readonly string[]
  readonly messages: readonly Message[]
  readonly maxOutputTokens: number
  readonly temperature?: number
  readonly signal: AbortSignal
}

/** Asks the model of a session. Rejects as the model client does, and with `mcp.sampling_refused` where it is none that may answer. */
export type Sample = (request: SampleRequest) => Promise<ModelFinish>

const MINUTE_MS = 60_000
const MOST_CHARS = 400_000

/** Answers what a server asks of a model: so much, so often and so long as its entry says, and the policy permits. */
export class Sampling {
  readonly #requested: number[] = []
  readonly #settings: ServerSettings
  readonly #options: { readonly sample: Sample; readonly clock: Clock }

  constructor(settings: ServerSettings, options: { readonly sample: Sample; readonly clock: Clock }) {
    this.#settings = settings
    this.#options = options
  }

  /** @throws HermesError `mcp.sampling_refused`, `policy.denied` */
  async answer(params: CreateMessageRequestParams, context: ToolContext): Promise<CreateMessageResult> {
    const { name, sampling } = this.#settings
    this.#count()
    const messages = toMessages(params)
    const action = { type: 'send', target: `mcp:${name}/sampling`, chosen: 'acts' } as const
    const permit = await context.permit(action)
    permit.consume(action)
    context.progress(`The MCP server ${name} asks the model.`)
    const finish = await this.#options.sample({
      sessionId: context.sessionId,
      server: name,
      models: sampling.models,
      messages,
      maxOutputTokens: Math.min(params.maxTokens, sampling.maxTokens),
      ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
      signal: AbortSignal.any([context.signal, AbortSignal.timeout(sampling.timeoutMs)]),
    })
    const text = finish.message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return {
      role: 'assistant',
      content: { type: 'text', text },
      model: finish.stamp.model,
      stopReason: finish.message.finishReason === 'length' ? 'maxTokens' : 'endTurn',
    }
  }

  #count(): void {
    const { name, sampling } = this.#settings
    const now = this.#options.clock.now()
    while (this.#requested.length > 0 && now - this.#requested[0]! >= MINUTE_MS) this.#requested.shift()
    if (this.#requested.length >= sampling.perMinute)
      throw refused(`The MCP server ${name} may ask the model ${sampling.perMinute} times a minute (sampling.max_rpm).`)
    this.#requested.push(now)
  }
}

function toMessages({ messages, systemPrompt }: CreateMessageRequestParams): readonly Message[] {
  const chars = JSON.stringify([messages, systemPrompt]).length
  if (chars > MOST_CHARS) throw refused(`It sent ${chars} characters for the model; ${MOST_CHARS} are the most.`)
  const system = systemPrompt ? [{ role: 'system', content: [{ type: 'text', text: systemPrompt }] } as const] : []
  const spoken = messages.map(({ role, content }): Message => {
    const parts = [content].flat().map(toPart)
    if (role === 'user') return { role, content: parts }
    return { role, content: parts.filter((part) => part.type === 'text') }
  })
  return [...system, ...spoken]
}

type Block = CreateMessageRequestParams['messages'][number]['content']

function toPart(block: Exclude<Block, readonly unknown[]>): UserPart {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image') return { type: 'image', mediaType: block.mimeType, data: block.data }
  throw refused(`It sent a part of type ${block.type} for the model, which none is asked with.`)
}

const refused = (message: string) => new HermesError(message, { code: 'mcp.sampling_refused' })
