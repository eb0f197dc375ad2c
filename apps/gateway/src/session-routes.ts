// The run of a session and the tasks its agent has delegated: listed, ended, held, let go and told something over HTTP.
import type { ChildInfo, Children } from '@hermes/agent-core'
import { isJsonObject } from '@hermes/contracts'
import type { SessionHost } from '@hermes/host'
import { ApiError } from './api-error.js'
import { sourcesOf } from './person-words.js'

const ACTIONS = ['kill', 'pause', 'resume', 'steer'] as const
const RUN_ACTIONS = ['steer', 'interrupt'] as const

/** What is to be done in a session, and for whom: `null` is the owner. */
interface WantedAction {
  readonly sessionId: string
  readonly person: string | null
  readonly action: string
  readonly body: string
}

/** Answers the requests about runs and delegated tasks. */
export class SessionRoutes {
  readonly #host: Pick<SessionHost, 'agentOf' | 'steer' | 'interrupt'>

  constructor(host: Pick<SessionHost, 'agentOf' | 'steer' | 'interrupt'>) {
    this.#host = host
  }

  /** Tells the run under way something, or ends it. @throws ApiError 409 where none is, 400 for an action there is not or a text that is missing */
  run({ action, ...wanted }: WantedAction) {
    const { sessionId } = wanted
    if (!this.#perform({ action, ...wanted })) {
      const message = `No run is under way in session ${sessionId}; send a message instead.`
      throw new ApiError(message, { status: 409, code: 'no_run' })
    }
    return { object: 'session.action', id: sessionId, action }
  }

  #perform({ sessionId, person, action, body }: WantedAction): boolean {
    // In a session of another person nothing is under way.
    if (person !== null && this.#host.agentOf(sessionId, person) === null) return false
    switch (RUN_ACTIONS.find((known) => known === action)) {
      case 'steer': {
        // Whether the run gets to read it before it ends is seen only then.
        const delivery = this.#host.steer(sessionId, textOf(body), sourcesOf(person))
        delivery?.catch(() => undefined)
        return delivery !== null
      }
      case 'interrupt':
        return this.#host.interrupt(sessionId, 'interrupted over HTTP')
      default:
        throw unknownAction(action, RUN_ACTIONS)
    }
  }

  /** None for a session of another person, as for one that is not open. */
  list(sessionId: string, person: string | null): { readonly object: 'list'; readonly data: readonly object[] } {
    return { object: 'list', data: (this.#host.agentOf(sessionId, person)?.children.list() ?? []).map(toJson) }
  }

  /** @throws ApiError 404 for a task that is not at work, 400 for an action there is not or a text that is missing */
  async act(wanted: WantedAction & { readonly child: string }) {
    const children = this.#host.agentOf(wanted.sessionId, wanted.person)?.children
    const done = children ? await perform(children, wanted) : false
    if (done === false) {
      const message = `Task ${wanted.child} of session ${wanted.sessionId} is not at work.`
      throw new ApiError(message, { status: 404, code: 'child_not_found' })
    }
    return { object: 'child.action', id: wanted.child, action: wanted.action, ...done }
  }
}

function unknownAction(action: string, actions: readonly string[]): ApiError {
  return new ApiError(`There is no action "${action}". Actions: ${actions.join(', ')}.`, { code: 'unknown_action' })
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
      throw unknownAction(action, ACTIONS)
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
