import { stat } from 'node:fs/promises'
import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk'
import { errorLine } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Question } from '@hermes/contracts/tool'
import { failure } from './failure.js'
import type { Home } from './home.js'
import type { AgentChoice } from './options.js'
import { askQuestion } from './question.js'
import { AcpSession } from './session.js'

const INSTRUCTIONS =
  'You speak inside a code editor: Markdown is shown, and the user sees your tool calls, edits and task list beside your text, so do not repeat them. Name files by their path.'

/** Options of {@link openSession}. */
export interface OpenSessionOptions {
  readonly client: AgentContext
  readonly capabilities: ClientCapabilities
  readonly options: AgentChoice
  readonly userHome: string
  readonly cwd: string
  /** Names of the MCP servers the editor gave. */
  readonly mcpServers: readonly string[]
  /** Continues this session. Default: a new one. */
  readonly sessionId?: string
  /** The session was open here before, so it need not be stored: nothing may have been said in it. Default `false`. */
  readonly isKnown?: boolean
}

/**
 * A session with an agent of its own.
 * @throws RequestError when `cwd` is no absolute path of a folder or the session does not exist; HermesError of the runtime.
 */
export async function openSession(home: Home, options: OpenSessionOptions): Promise<AcpSession> {
  const { client, capabilities, cwd, userHome, sessionId } = options
  await checkFolder(cwd)
  const stored = sessionId === undefined ? null : await storedSession(home, sessionId, options.isKnown ?? false)
  const named = stored ? { session: stored } : sessionId === undefined ? {} : { sessionId }
  const canAsk = Boolean(capabilities.elicitation?.form)
  let id = ''
  const ask = (question: Question, { signal }: { readonly signal: AbortSignal }) =>
    askQuestion(client, { sessionId: id, question }, { signal, logger: home.logger })
  const ready = await home.runtime.createAgent({
    ...options.options,
    ...named,
    cwd,
    instructions: INSTRUCTIONS,
    ...(canAsk ? { ask } : { withoutToolsets: ['clarify'] }),
  })
  id = ready.agent.sessionId
  const notices = [
    ...(options.mcpServers.length > 0
      ? [`MCP servers from the editor are not used yet: ${options.mcpServers.join(', ')}.`]
      : []),
  ]
  const showsNotices = Boolean(capabilities.session?.notices)
  return new AcpSession({ ready, home, client, place: { cwd, userHome }, notices, showsNotices })
}

async function storedSession({ runtime }: Home, sessionId: string, isKnown: boolean): Promise<SessionInfo | null> {
  const stored = await (await runtime.storage()).sessions.get(sessionId)
  if (stored || isKnown) return stored
  throw failure('notFound', `There is no stored session "${sessionId}". Start one with session/new.`, { sessionId })
}

async function checkFolder(cwd: string): Promise<void> {
  const problem = await stat(cwd).then((found) => (found.isDirectory() ? null : 'it is no folder'), errorLine)
  if (problem !== null) throw failure('invalidParams', `cwd must be a folder that exists, got "${cwd}": ${problem}.`)
}
