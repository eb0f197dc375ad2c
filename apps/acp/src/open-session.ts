import { stat } from 'node:fs/promises'
import type { AgentContext, ClientCapabilities, McpServer } from '@agentclientprotocol/sdk'
import { errorLine } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import type { AgentFlags } from '@hermes/runtime/app/server'
import { failure } from './failure.js'
import type { Home } from './home.js'
import { serverEntries } from './mcp-servers.js'
import { AcpSession } from './session.js'

const INSTRUCTIONS =
  'You speak inside a code editor: Markdown is shown, and the user sees your tool calls, edits and task list beside your text, so do not repeat them. Name files by their path.'

/** Options of {@link openSession}. */
interface OpenSessionOptions {
  readonly client: AgentContext
  readonly capabilities: ClientCapabilities
  readonly options: AgentFlags
  readonly userHome: string
  readonly cwd: string
  /** The MCP servers the editor gave. */
  readonly mcpServers: readonly McpServer[]
  /** Continues this session. Default: a new one. */
  readonly sessionId?: string
  /** What had the session open before; closed once nothing is wrong with the request. */
  readonly former?: AcpSession | undefined
}

/**
 * A session with an agent of its own.
 * @throws RequestError when `cwd` is no absolute path of a folder or the session does not exist; HermesError of the runtime.
 */
export async function openSession(home: Home, options: OpenSessionOptions): Promise<AcpSession> {
  const { client, capabilities, cwd, userHome, sessionId, former } = options
  await checkFolder(cwd)
  const session = sessionId === undefined ? null : await storedSession(home, sessionId)
  await former?.close()
  const canAsk = Boolean(capabilities.elicitation?.form)
  let opened: AcpSession | null = null
  const handle = home.host.open({
    ...options.options,
    platform: 'acp',
    ...(session ? { session } : {}),
    cwd,
    instructions: INSTRUCTIONS,
    permissions: 'ask',
    ...(options.mcpServers.length > 0 ? { mcpServers: serverEntries(options.mcpServers) } : {}),
    onWakeUp: (turn) => opened?.showWakeUp(turn),
    onRest: (line) => opened?.showRest(line),
    answersQuestions: canAsk ? 'now' : 'later',
  })
  const { problems } = await handle.agent().catch((error: unknown) => {
    handle.close()
    throw error
  })
  const by = session ? await handle.otherUser() : null
  const notices = [...(by === null ? [] : [`This session is also open in ${by}.`]), ...problems]
  const showsNotices = Boolean(capabilities.session?.notices)
  opened = new AcpSession({ handle, home, client, place: { cwd, userHome }, notices, showsNotices, hasForms: canAsk })
  return opened
}

async function storedSession({ runtime }: Home, sessionId: string): Promise<SessionInfo> {
  const stored = await (await runtime.storage()).sessions.get(sessionId)
  if (stored) return stored
  throw failure('notFound', `There is no stored session "${sessionId}". Start one with session/new.`, { sessionId })
}

async function checkFolder(cwd: string): Promise<void> {
  const problem = await stat(cwd).then((found) => (found.isDirectory() ? null : 'it is no folder'), errorLine)
  if (problem !== null) throw failure('invalidParams', `cwd must be a folder that exists, got "${cwd}": ${problem}.`)
}
