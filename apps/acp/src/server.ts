import { isAbsolute } from 'node:path'
import {
  type AgentContext,
  type AuthenticateRequest,
  type AuthMethod,
  type CancelNotification,
  type ClientCapabilities,
  type CloseSessionRequest,
  type InitializeRequest,
  type InitializeResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  type SessionConfigOption,
  type SessionModeState,
  type SetSessionConfigOptionRequest,
  type SetSessionModeRequest,
} from '@agentclientprotocol/sdk'
import { type Clock, systemClock } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import type { AgentFlags } from '@hermes/runtime/app/server'
import { failure, toRequestError } from './failure.js'
import type { Home } from './home.js'
import type { AcpSession } from './session.js'

/** What flags decide. */
export interface ServeOptions {
  readonly agent: AgentFlags
  /** Dangerous commands run without asking; the hard floor stays. */
  readonly yolo: boolean
  readonly version: string
}

const SETUP: AuthMethod = {
  id: 'hermes-setup',
  name: 'Set up a model',
  description:
    'Put a key such as OPENAI_API_KEY=… into the .env file of the Hermes home (~/.hermes/.env), or set model.base_url and model.default in its config.yaml, then choose this.',
}

/** What `_session/steering` takes. */
export type SteerRequest = Pick<PromptRequest, 'sessionId' | 'prompt'>

/** What became of it, in the words of other agents. */
type SteerResponse =
  | { readonly outcome: 'injected' }
  | { readonly outcome: 'promptRequired'; readonly reason: 'noRunningTurn' }

/** What can be set of a session, as an answer to its opening. */
type SessionSettings = { modes: SessionModeState; configOptions: SessionConfigOption[] }

type SessionRequest = Pick<NewSessionRequest, 'cwd' | 'mcpServers'> & { readonly sessionId?: string }

/** What a client can ask of Hermes. The home is opened by the first session; its code loads once the client was greeted. */
export class AcpServer {
  readonly #io: Io
  readonly #options: ServeOptions
  readonly #sessions = new Map<string, AcpSession>()
  /** The newest load of each session that is under way. */
  readonly #loading = new Map<string, Promise<unknown>>()
  #client: AgentContext | null = null
  #capabilities: ClientCapabilities = {}
  #home: Promise<Home> | null = null

  readonly #clock: Clock

  constructor(io: Io, options: ServeOptions, clock: Clock = systemClock) {
    this.#io = io
    this.#options = options
    this.#clock = clock
  }

  connect(client: AgentContext): void {
    this.#client = client
  }

  initialize({ clientCapabilities }: InitializeRequest): InitializeResponse {
    this.#capabilities = clientCapabilities ?? {}
    // Loaded ahead of the first session, which tells what is wrong with it.
    setImmediate(() => void code().catch(() => undefined))
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'hermes', title: 'Hermes', version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true, audio: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { close: {} },
      },
      authMethods: [SETUP],
      // As agents say it that take `_session/steering`; the protocol itself has no word for it in this version.
      _meta: { steering: { supported: true } },
    }
  }

  /** Reads the home again and says whether a model can be asked now. */
  async authenticate({ methodId }: AuthenticateRequest): Promise<Record<string, never>> {
    if (methodId !== SETUP.id)
      throw failure('invalidParams', `Unknown method "${methodId}". The only one is "${SETUP.id}".`)
    await answering(async () => {
      if (this.#sessions.size === 0) await this.#closeHome()
      const { runtime } = await this.#openHome()
      runtime.chooseModel(this.#options.agent)
    })
    return {}
  }

  async newSession(request: NewSessionRequest): Promise<SessionSettings & { sessionId: string }> {
    const session = await answering(() => this.#open(request))
    announceCommands(session)
    return { sessionId: session.id, ...session.settings([]) }
  }

  async loadSession(request: LoadSessionRequest): Promise<SessionSettings> {
    const { sessionId } = request
    const before = this.#loading.get(sessionId)
    const loading = answering(async () => {
      // Each closes what had the session open before, so they go one by one.
      await before?.catch(() => undefined)
      const former = this.#sessions.get(sessionId)
      if (former?.isBusy) throw failure('invalidRequest', 'This session works on a prompt; cancel it before loading.')
      const session = await this.#open(request, former)
      const { runtime } = await this.#openHome()
      const entries = await (await runtime.storage()).log.entries(sessionId)
      await session.replay(entries)
      announceCommands(session)
      return session.settings(entries)
    })
    this.#loading.set(sessionId, loading)
    try {
      return await loading
    } finally {
      if (this.#loading.get(sessionId) === loading) this.#loading.delete(sessionId)
    }
  }

  /** Changes what the agent may do from now on; to leave the plan is to accept it. */
  async setMode({ sessionId, modeId }: SetSessionModeRequest): Promise<Record<string, never>> {
    await answering(() => this.#sessionOf(sessionId).setMode(modeId))
    return {}
  }

  /** Sets one option of a session from its next request on, and tells all of them. */
  async setOption({
    sessionId,
    configId,
    value,
  }: SetSessionConfigOptionRequest): Promise<{ configOptions: SessionConfigOption[] }> {
    return answering(async () => ({ configOptions: await this.#sessionOf(sessionId).setOption(configId, value) }))
  }

  async prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    return answering(async () => ({ stopReason: await this.#sessionOf(sessionId).prompt(prompt, signal) }))
  }

  /** Tells the prompt under way something; an editor sends a prompt where none is. */
  async steer({ sessionId, prompt }: SteerRequest): Promise<SteerResponse> {
    return answering(async () => this.#sessionOf(sessionId).steer(prompt))
  }

  #sessionOf(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId)
    if (session) return session
    const line = `No session "${sessionId}" is open here. Start one with session/new, or open it with session/load.`
    throw failure('notFound', line, { sessionId })
  }

  cancel({ sessionId }: CancelNotification): void {
    this.#sessions.get(sessionId)?.cancel()
  }

  /** Ends the prompt under way and frees what the session holds; it can be loaded again. */
  async closeSession({ sessionId }: CloseSessionRequest): Promise<Record<string, never>> {
    await answering(async () => {
      const session = this.#sessionOf(sessionId)
      this.#sessions.delete(sessionId)
      await session.close()
    })
    return {}
  }

  /** Frees the agents that nobody used for `idleMs`; what is asked next of such a session makes a new one. */
  async closeIdle(idleMs: number): Promise<void> {
    await (await this.#home)?.host.closeIdle(idleMs)
  }

  /** Ends every prompt and closes the home. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()))
    this.#sessions.clear()
    await this.#closeHome()
  }

  async #open(request: SessionRequest, former?: AcpSession): Promise<AcpSession> {
    if (!isAbsolute(request.cwd)) throw failure('invalidParams', `cwd must be an absolute path, got "${request.cwd}".`)
    try {
      const home = await this.#openHome()
      const { openSession } = await code()
      const session = await openSession(home, {
        client: this.#client!,
        capabilities: this.#capabilities,
        options: this.#options.agent,
        userHome: this.#io.userHome,
        cwd: request.cwd,
        mcpServers: request.mcpServers,
        ...(request.sessionId === undefined ? {} : { sessionId: request.sessionId }),
        former,
      })
      this.#sessions.set(session.id, session)
      return session
    } catch (error) {
      // The next try reads keys and configuration again.
      if (this.#sessions.size === 0) await this.#closeHome()
      throw error
    }
  }

  #openHome(): Promise<Home> {
    this.#home ??= code().then(({ openEditorHome }) =>
      openEditorHome(this.#io, { yolo: this.#options.yolo }, this.#clock),
    )
    return this.#home
  }

  async #closeHome(): Promise<void> {
    // Whoever wanted it was told why it did not open.
    const home = await this.#home?.catch(() => null)
    this.#home = null
    await home?.host.close('editor_close')
    await home?.runtime.close('editor_close')
  }
}

/** The editor knows the session once it has the answer, so commands come right after that. */
function announceCommands(session: AcpSession): void {
  setImmediate(() => void session.announceCommands())
}

function code() {
  return import('./lazy.js')
}

/** Whatever goes wrong becomes an error the client can show. */
async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toRequestError(error)
  }
}
