import type { Environment } from '@hermes/contracts/environment'
import type { HookEvent, HookName } from '@hermes/contracts/extension'
import type { CallPlace } from '../listing.js'

/** What of an event is data, by name. */
const PLAIN = [
  ...[
    'callId',
    'caller',
    'args',
    'rawArgs',
    'reply',
    'action',
    'turnSeq',
    'toolName',
    'outcome',
    'isRefused',
    'startedAtMs',
  ],
  ...[
    'endedAtMs',
    'status',
    'usage',
    'approvalId',
    'question',
    'isNew',
    'child',
    'cause',
    'continued',
    'platform',
    'model',
    'runId',
    'agentPath',
  ],
  ...[
    'messageId',
    'kind',
    'isWhole',
    'error',
    'attempt',
    'delayMs',
    'command',
    'user',
    'sessionId',
    'task',
    'skill',
    'by',
  ],
] as const
/** What is said in a session. */
const SPOKEN = ['input', 'text', 'request', 'finish', 'message'] as const

/** An event as it goes to the process of a plugin; what is said in the session only where that was declared. */
export function eventData(
  point: HookName,
  event: HookEvent,
  readsConversation: boolean,
): { readonly data: object; readonly runId: string } {
  const known = event as unknown as Readonly<Record<string, unknown>>
  const names = readsConversation ? [...PLAIN, ...SPOKEN] : PLAIN
  const data = Object.fromEntries(names.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])))
  const { session } = event
  const tool = known['tool'] as
    | { readonly name: string; readonly toolset: string; readonly description: string }
    | null
    | undefined
  return {
    runId: event.runId ?? '',
    data: {
      ...data,
      ...(tool ? { tool: { name: tool.name, toolset: tool.toolset, description: tool.description } } : {}),
      session: { id: session?.id ?? '', isTainted: session?.isTainted ?? false },
      // All of a long session with each piece of an answer would hold up what it tells of.
      ...(readsConversation && session && !point.startsWith('stream-')
        ? { messages: session.messages(), entries: session.entries }
        : {}),
    },
  }
}

interface Placed {
  readonly session?: { readonly id: string }
  readonly sessionId?: string | null
  readonly callId?: string
  readonly agentPath?: readonly string[]
  readonly environment: Environment | null
}

/** Where a call comes from, as its process knows it. */
export function placeOf(from: object, isTainted: boolean): CallPlace {
  const { session, sessionId, callId = '', agentPath = [] } = from as Placed
  return {
    sessionId: sessionId ?? session?.id ?? '',
    callId,
    agentPath,
    isTainted,
    environment: remotePlace(from as Placed),
  }
}

function remotePlace(from: Placed): CallPlace['environment'] {
  let environment: Environment | null
  try {
    environment = from.environment ?? null
  } catch {
    return null
  }
  if (environment === null) return null
  const { backend, root = null } = environment
  return { backend, cwd: environment.cwd(), root, userHome: environment.resolve('~') }
}
