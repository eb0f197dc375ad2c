// The tasks an agent has delegated: listed, ended, held, let go and told something over HTTP.
import type { ChildInfo, Children } from '@hermes/agent-core'
import { isJsonObject } from '@hermes/contracts'
import type { SessionHost } from '@hermes/host'
import { ApiError } from './api-error.js'

const ACTIONS = ['kill', 'pause', 'resume', 'steer'] as const

/** Answers the requests about delegated tasks. */
export class SessionRoutes {
  readonly #host: Pick<SessionHost, 'agentOf'>

  constructor(host: Pick<SessionHost, 'agentOf'>) {
    this.#host = host
  }

  list(sessionId: string): { readonly object: 'list'; readonly data: readonly object[] } {
    return { object: 'list', data: (this.#host.agentOf(sessionId)?.children.list() ?? []).map(toJson) }
  }

  /** @throws ApiError 404 for a task that is not at work, 400 for an action there is not or a text that is missing */
  async act(wanted: { readonly sessionId: string; readonly child: string; readonly action: string; body: string }) {
    const children = this.#host.agentOf(wanted.sessionId)?.children
    const done = children ? await perform(children, wanted) : false
    if (done === false) {
      const message = `Task ${wanted.child} of session ${wanted.sessionId} is not at work.`
      throw new ApiError(message, { status: 404, code: 'child_not_found' })
    }
    return { object: 'child.action', id: wanted.child, action: wanted.action, ...done }
  }
}

async function perform(
  children: Children,
  { child, action, body }: { readonly child: string; readonly action: string; readonly body: string },
): Promise<object | false> {
  switch (ACTIONS.find((known) => known === action)) {
    case 'kill':
      return children.kill(child) && {}
    case 'pause':
      return children.pause(child) && {}
    case 'resume':
      return children.unpause(child) && {}
    case 'steer':
      return tell(children, child, textOf(body))
    default:
      throw new ApiError(`There is no action "${action}". Actions: ${ACTIONS.join(', ')}.`, { code: 'unknown_action' })
  }
}

/** Whether the task gets to read it before it ends is seen only then; who tells it does not wait for that. */
async function tell(children: Children, id: string, text: string): Promise<object | false> {
  // One that cannot be told any more is as good as unknown.
  const delivery = children.steer(id, text).catch(() => null)
  const unknown = await Promise.race([delivery, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
  return unknown !== null && {}
}

function textOf(body: string): string {
  let input: unknown
  try {
    input = JSON.parse(body)
  } catch {
    input = null
  }
  const text = isJsonObject(input) ? input['text'] : null
  if (typeof text === 'string' && text.trim() !== '') return text
  throw new ApiError('Give the text as JSON: {"text": "…"}.', { code: 'invalid_text', param: 'text' })
}

function toJson({ id, goal, role, isBackground, state, activity, ...child }: ChildInfo): object {
  const { sessionId, modelCalls, toolCalls, usage, startedAtMs, endedAtMs } = child
  return {
    id,
    object: 'child',
    goal,
    role,
    background: isBackground,
    state,
    activity,
    session_id: sessionId,
    model_calls: modelCalls,
    tool_calls: toolCalls,
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, cost_usd: usage.costUsd },
    started_at_ms: startedAtMs,
    ended_at_ms: endedAtMs,
  }
}
