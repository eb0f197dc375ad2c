import type { Clock, Logger } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import type { Client } from '@modelcontextprotocol/client'
import type { ServerOptions } from '../servers/server.js'
import type { ServerSettings } from '../settings/server-settings.js'
import type { RunningCalls } from './running-calls.js'
import type { Sample } from './sampling.js'

/** What answers the questions of servers. */
interface AnswerParts {
  readonly calls: RunningCalls
  /** `null` where no model is asked for a server. */
  readonly sample: Sample | null
  readonly clock: Clock
  readonly logger: Logger
}

/** What a server may ask, and who answers it: the person behind the call it works for, and the model of that session. */
export function answersFor(settings: ServerSettings, parts: AnswerParts): NonNullable<ServerOptions['answers']> {
  const { elicitationMs, trust, sampling } = settings
  const mayAsk = elicitationMs !== null
  const samples = sampling.isEnabled && trust === 'full' && parts.sample !== null
  return {
    capabilities: { ...(mayAsk ? { elicitation: { form: {}, url: {} } } : {}), ...(samples ? { sampling: {} } : {}) },
    prepare: (client, refused) => {
      if (mayAsk) answerElicitation(client, settings, { ...parts, refused, withinMs: elicitationMs })
      if (samples) answerSampling(client, settings, { ...parts, sample: parts.sample! })
    },
  }
}

function answerElicitation(
  client: Client,
  { name }: ServerSettings,
  {
    calls,
    clock,
    logger,
    refused,
    withinMs,
  }: AnswerParts & { readonly refused: (secret: string) => void; readonly withinMs: number },
): void {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const call = calls.of(name)
    if (typeof call === 'string') {
      logger.warn(`A question of the MCP server ${name} was declined: ${call}.`)
      return { action: 'decline' }
    }
    const { elicit } = await import('./elicitation.js')
    const ended = new AbortController()
    const late = clock.sleep(withinMs, ended.signal).then(
      () => ({ action: 'cancel' }) as const,
      () => ({ action: 'cancel' }) as const,
    )
    // A run that parks makes its call again later, and the server asks again.
    const requested = elicit(name, params, call, refused).catch(() => ({ action: 'cancel' }) as const)
    return Promise.race([requested, late]).finally(() => ended.abort())
  })
}

function answerSampling(
  client: Client,
  settings: ServerSettings,
  { calls, sample, clock, logger }: AnswerParts & { readonly sample: Sample },
): void {
  let sampling: { answer(params: never, context: ToolContext): Promise<unknown> } | null = null
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    const call = calls.of(settings.name)
    if (typeof call === 'string') throw new Error(`No model is asked: ${call}.`)
    const { Sampling } = await import('./sampling.js')
    sampling ??= new Sampling(settings, { sample, clock })
    try {
      return (await sampling.answer(params as never, call)) as never
    } catch (error) {
      logger.warn(`The MCP server ${settings.name} was refused the model: ${errorLine(error)}`)
      throw new Error(errorLine(error))
    }
  })
}
