import {
  type Agent,
  type AgentOptions,
  buildSystemPrompt,
  type ChildTask,
  childInstructions,
  createAgent,
  createSessionId,
  type Delegation,
} from '@hermes/agent-core'
import { type HermesConfig, homeLayout, loadConfig, loadPermissions, loadSecrets } from '@hermes/config'
import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { CredentialSource, ModelClient } from '@hermes/contracts/model'
import type { Policy } from '@hermes/contracts/policy'
import type { SessionInfo } from '@hermes/contracts/store'
import { createModelClient, type KeyLimits, type ModelEndpoint, type ResilientModelClient } from '@hermes/models'
import { createToolRegistry, resolveToolsets, type ToolRegistry, type ToolsetSelection } from '@hermes/registry'
import { createOriginFetch, createRedactor, type Proxies, parseRules, readProxies } from '@hermes/safety'
import { type Backups, openBackups, openStorage, type Storage } from '@hermes/storage'
import { withLearningHints } from '@hermes/storage/tools'
import { listModels, PROVIDERS } from '@hermes/transports'
import { openContextEngine } from './context-engine.js'
import { findContextFile, readSoul } from './context-files.js'
import { type Credentials, findCredentials, openCredentials, type StoredCredentials } from './credentials.js'
import { type DailyBackup, startDailyBackup } from './daily-backup.js'
import type { EnvironmentRequest } from './environment-request.js'
import { chooseFallbacks, type Fallbacks } from './fallbacks.js'
import { toolFactories } from './generated/tools.js'
import { type AgentCheckpoints, type HomeCheckpoints, openHomeCheckpoints } from './home-checkpoints.js'
import { type HomeCode, openHomeCode } from './home-code.js'
import { type HomeMemory, openHomeMemory } from './home-memory.js'
import { HomeModels } from './home-models.js'
import { type HomePolicy, openHomePolicy } from './home-policy.js'
import {
  childLineage,
  delegationLimits,
  type Lineage,
  loopGuardOf,
  mayDelegate,
  noChild,
  originOf,
  ROOT,
  subjectOf,
} from './lineage.js'
import { makeHome } from './make-home.js'
import { chooseMixture, MIXTURE, type MixtureChoice } from './mixtures.js'
import { chooseModel, type ModelChoice } from './model-choice.js'
import { toModelEndpoint } from './model-endpoint.js'
import { openEnvironment } from './open-environment.js'
import { configuredModels, toolSettings } from './settings.js'
import { SideTasks } from './side-task-clients.js'
import { openSpending, type Spending } from './spending.js'
import type { BackendStatus } from './terminal-backends.js'
import { openTraffic } from './traffic.js'
import { TurnScopes } from './turn-scopes.js'

/** The world a runtime lives in; nothing else is read from the process. */
export interface RuntimeOptions {
  /** The Hermes home; made on first write. */
  readonly home: string
  readonly userHome: string
  /** The whole environment: keys are looked up in it, and commands get it without them. */
  readonly env: Readonly<Record<string, string>>
  /** Where agents work. Absolute. */
  readonly cwd: string
  readonly user: string
  readonly tempDir: string
  /** `cli`, `oneshot`, `acp`, `gateway` … */
  readonly surface: string
  /** Dangerous commands run without asking; the hard floor stays. Default `false`. */
  readonly yolo?: boolean
  readonly logger?: Logger
  readonly clock?: Clock
}

/** What one agent is asked to be. */
export interface AgentRequest {
  /** Continues this session. Default: a new one. */
  readonly session?: SessionInfo
  /** Id of a new session. Default: made from the time. */
  readonly sessionId?: string
  /** Where the agent works. Absolute. Default: that of the runtime. */
  readonly cwd?: string
  /** Added to the system text of a new session, after the project's instructions. */
  readonly instructions?: string
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  /** What a new session will begin with, for rules of `routing` that go by its size. */
  readonly firstText?: string
  /** Default: `toolsets` of config.yaml. */
  readonly toolsets?: readonly string[]
  /** Toolsets left out of a new session, beside `agent.disabled_toolsets` of config.yaml. */
  readonly withoutToolsets?: readonly string[]
  readonly maxTurns?: number
  /** Whether tools may tell something after their call; no where no further message comes. Default `true`. */
  readonly notices?: boolean
  readonly ask?: AgentOptions['ask']
  /** Writes the model traffic to this file. */
  readonly record?: string
  /** Answers from this file instead of a model. */
  readonly replay?: string
}

/** An agent and what was chosen for it. */
export interface ReadyAgent {
  readonly agent: Agent
  readonly model: string
  readonly provider: string
  /** Where it works. Absolute. */
  readonly cwd: string
  /** The models the endpoint offers; empty when it does not say. */
  models(): Promise<readonly string[]>
  /** What endpoints said about how much may still be asked, by key and model. */
  limits(): readonly KeyLimits[]
  /**
   * The client for a task beside the conversation, such as `vision`: who `auxiliary` of config.yaml names, else the agent's own model and
   * those that stand in for it.
   * @throws HermesError `models.*`: one line with what is missing.
   */
  sideTask(task: string): Promise<ModelClient>
  /**
   * Gives the session a title of a few words, by a side task, when it has an exchange and no title yet and config.yaml allows it; `null`
   * where none was given. Never rejects; closing the runtime ends it.
   */
  nameSession(): Promise<string | null>
  /** Whether background processes of the agent still run. */
  hasProcesses(): boolean
  /** Ends its background processes and frees what it holds; the session stays. Not while a run is active. */
  close(): Promise<void>
}

/** A tool as lists show it. */
export interface ToolStatus {
  readonly name: string
  readonly toolset: string
  readonly description: string
  /** Whether the toolsets of config.yaml hold it. */
  readonly isEnabled: boolean
  /** Whether it can work on this machine. */
  readonly isAvailable: boolean
  /** Environment variables it needs. */
  readonly requires: readonly string[]
}

/** One opened Hermes home. Several may live in one process. */
export interface Runtime {
  readonly config: HermesConfig
  /** What is wrong with the home, a line each; the runtime works all the same. */
  readonly problems: readonly string[]
  readonly policy: Policy
  /** What the policy goes by, and what it would decide. */
  readonly permissions: Pick<HomePolicy, 'settings' | 'explain' | 'rulesOfNoTool'>
  /** What agents remember across sessions; `null` where config.yaml switches it off. */
  readonly memory: HomeMemory | null
  /** What is known about models, loaded on first use. */
  readonly models: Pick<HomeModels, 'directory' | 'window'>
  /** The session store; opened on first use, from when on it is backed up once a day. */
  storage(): Promise<Storage>
  /** Copies of the session store, in the home's folder `backups`. */
  backups(): Backups
  /** Snapshots of workspaces; loaded on first use. */
  readonly checkpoints: Pick<HomeCheckpoints, 'open'>
  /** A `fetch` to the origin of a configured address and nowhere else, through the proxy meant for it. */
  fetchTo(baseUrl: string): typeof fetch
  /** The keys and logins of a choice; `null` when it has one key at most, the one in it. */
  credentialsFor(choice: ModelChoice): Promise<CredentialSource | null>
  /**
   * Which model a request would get.
   * @throws HermesError with one line that says what is missing.
   */
  chooseModel(asked: Pick<AgentRequest, 'provider' | 'model' | 'baseUrl' | 'session'>): ModelChoice
  /**
   * A ready agent on a new or continued session.
   * @throws HermesError `models.*`, `registry.unknown_toolset`: one line naming what is valid.
   */
  createAgent(request: AgentRequest): Promise<ReadyAgent>
  /** Which terminal backends are ready, and why not; hosts are asked only when online. */
  terminalBackends(options: { readonly isOffline: boolean }): Promise<readonly BackendStatus[]>
  /** All tools, sorted by name. */
  tools(): Promise<readonly ToolStatus[]>
  /** Who answers when the chosen model does not, in order, and what is wrong with entries that cannot be used. */
  fallbacks(): Fallbacks
  /** All toolsets by name, with the tools each comes to. */
  toolsets(): Readonly<Record<string, { readonly description: string; readonly tools: readonly string[] }>>
  /** Ends background processes, closes recordings and the store. */
  close(): Promise<void>
}

/**
 * Opens a home. Broken configuration never stops it: see `problems`.
 * @throws HermesError `runtime.bad_home` when the folder is missing and cannot be made.
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { home, env } = options
  await makeHome(home)
  const [loaded, secrets, permissions, stored] = await Promise.all([
    loadConfig({ home, env }),
    loadSecrets({ home, env }),
    loadPermissions({ home }),
    findCredentials(home, options.clock ?? systemClock),
  ])
  const rules = parseRules(permissions.rules, permissions)
  const { proxies, problems: proxyProblems } = readProxies(env)
  const problems = [...loaded.problems, ...secrets.problems, ...permissions.problems].map((problem) => problem.message)
  const { routing } = loaded.config
  const routes = routing.length === 0 ? [] : (await import('./routing.js')).routingProblems(routing)
  return new HomeRuntime(options, {
    config: loaded.config,
    secrets,
    rules: rules.rules,
    proxies,
    stored,
    problems: [
      ...problems,
      ...stored.problems,
      ...rules.problems,
      ...proxyProblems,
      ...modeProblems(loaded.config),
      ...routes,
    ],
  })
}

function modeProblems(config: HermesConfig): string[] {
  if (config.approvals.mode !== 'smart') return []
  return ['approvals.mode: smart needs a judge that this version does not have; you are asked instead.']
}

/** What the system text of a session is made of, beside the home. */
interface PromptFacts {
  readonly environment: Environment
  readonly cwd: string
  readonly model: string
  readonly instructions: string | undefined
  readonly lineage: Lineage
}

/** What the tools of one agent depend on. */
interface RegistryParts {
  readonly checkpoints: AgentCheckpoints
  readonly code: HomeCode
  readonly delegation: Delegation | null
  /** The only tools there are; `null` for all. */
  readonly allowed: readonly string[] | null
}

/** Who answers an agent, and the one way there. */
interface Answerer {
  readonly choice: ModelChoice
  readonly model: ResilientModelClient
  readonly credentials: CredentialSource | null
  readonly fetch: typeof fetch
}

interface Loaded {
  readonly config: HermesConfig
  readonly secrets: Awaited<ReturnType<typeof loadSecrets>>
  readonly rules: ReturnType<typeof parseRules>['rules']
  readonly proxies: Proxies | null
  readonly stored: StoredCredentials
  readonly problems: readonly string[]
}

class HomeRuntime implements Runtime {
  readonly config: HermesConfig
  readonly problems: readonly string[]
  readonly policy: Policy
  readonly permissions: HomePolicy
  readonly checkpoints: HomeCheckpoints
  readonly #options: RuntimeOptions
  readonly #loaded: Loaded
  readonly #logger: Logger
  readonly #clock: Clock
  readonly models: HomeModels
  readonly #closers = new Set<() => Promise<void>>()
  readonly #credentials: Credentials
  /** Knows the keys and tokens of `auth.json` once they are used. */
  readonly #poolRedactor = createRedactor({ secrets: [] })
  readonly memory: HomeMemory | null
  #storage: Promise<Storage> | null = null
  #dailyBackup: DailyBackup | null = null
  #spending: Promise<Spending> | null = null
  readonly #sideTasks: SideTasks
  readonly #turnScopes = new TurnScopes()

  constructor(options: RuntimeOptions, loaded: Loaded) {
    this.#options = options
    this.#loaded = loaded
    this.#logger = options.logger ?? silentLogger
    this.#clock = options.clock ?? systemClock
    this.config = loaded.config
    this.problems = loaded.problems
    const { config, secrets, stored } = loaded
    this.models = new HomeModels({
      cacheDir: homeLayout(options.home).cache,
      config,
      fetchTo: (address) => this.fetchTo(address),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.#closers.add(() => this.models.close())
    this.#credentials = openCredentials(
      {
        home: options.home,
        config,
        secrets: secrets.values,
        fetchTo: (address) => this.fetchTo(address),
        clock: this.#clock,
        logger: this.#logger,
        onSecret: this.#poolRedactor.add,
      },
      stored,
    )
    this.#sideTasks = new SideTasks({
      config: this.config,
      wishes: () => this.#wishes(),
      fallbacks: () => this.fallbacks().choices,
      sees: (choice) => this.models.sees(choice),
      endpointOf: (choice) => this.#endpointOf(choice),
      books: () => this.#books(),
      storage: () => this.storage(),
      clock: this.#clock,
      logger: this.#logger,
    })
    const { home, userHome, cwd } = options
    this.memory = openHomeMemory({
      home,
      settings: config.memory,
      redact: (text) => this.#redact([])(text),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.checkpoints = openHomeCheckpoints({
      home,
      userHome,
      settings: config.checkpoints,
      store: () => this.storage(),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.permissions = openHomePolicy({
      home,
      userHome,
      cwd,
      yolo: options.yolo ?? false,
      config,
      rules: loaded.rules,
      storage: () => this.storage(),
      redactor: () => this.#redact([]),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.policy = this.permissions.policy
  }

  storage(): Promise<Storage> {
    const path = homeLayout(this.#options.home).stateDb
    this.#storage ??= openStorage({
      path,
      clock: this.#clock,
      logger: this.#logger,
      rescueDir: this.#options.tempDir,
      journal: this.config.database.journal_mode,
      sync: this.config.database.synchronous,
    })
    this.#dailyBackup ??= startDailyBackup(this.backups(), { path, logger: this.#logger })
    return this.#storage
  }

  backups(): Backups {
    const { stateDb, backups } = homeLayout(this.#options.home)
    return openBackups({ path: stateDb, directory: backups, clock: this.#clock, logger: this.#logger })
  }

  fetchTo(baseUrl: string): typeof fetch {
    return createOriginFetch({ baseUrl, proxies: this.#loaded.proxies })
  }

  credentialsFor(choice: ModelChoice): Promise<CredentialSource | null> {
    return this.#credentials.sourceFor(choice)
  }

  chooseModel(asked: Pick<AgentRequest, 'provider' | 'model' | 'baseUrl' | 'session'>): ModelChoice {
    const mixture = this.#mixture(asked)
    if (mixture) return { ...mixture.aggregator, provider: MIXTURE, model: mixture.preset }
    return chooseModel({ asked, session: asked.session ?? null, ...this.#wishes() })
  }

  /** The mixture that is asked for, else that of the session, else that of config.yaml; `null` where a single model is. */
  #mixture({ provider, model, baseUrl, session }: Parameters<Runtime['chooseModel']>[0]): MixtureChoice | null {
    const configured = this.config.model
    const own = session ?? { provider: configured.provider, model: configured.default }
    const isOwn = provider === undefined && baseUrl === undefined && own.provider === MIXTURE
    if (provider !== MIXTURE && !isOwn) return null
    const preset = model ?? (isOwn ? own.model : undefined) ?? undefined
    return chooseMixture({ settings: this.config.moa, preset, wishes: this.#wishes() })
  }

  #wishes() {
    const { secrets, stored } = this.#loaded
    return { ...configuredModels(this.config), secrets: secrets.values, stored: stored.providers }
  }

  createAgent(request: AgentRequest): Promise<ReadyAgent> {
    return this.#makeAgent(request, ROOT, null)
  }

  /** `answerer`: whose model a child uses too; `null` for one of its own. */
  async #makeAgent(request: AgentRequest, lineage: Lineage, answerer: Answerer | null): Promise<ReadyAgent> {
    const cwd = request.cwd ?? this.#options.cwd
    const sessionId = request.session?.id ?? request.sessionId ?? createSessionId(this.#clock.now())
    const checkpoints = this.checkpoints.forAgent(cwd)
    const limits = delegationLimits(this.config)
    let children = 0
    const createChild = async (task: ChildTask): Promise<ReadyAgent> => {
      const place = childLineage(lineage, {
        task,
        number: ++children,
        parentSessionId: sessionId,
        parentTools: resolveToolsets(registry.toolsets(), toolsets).filter((name) => registry.names().includes(name)),
        toolsets: registry.toolsets(),
      })
      return this.#makeAgent(this.#childRequest(environment.cwd()), place, this.#childAnswerer(parent))
    }
    const delegation = mayDelegate(lineage, limits) ? { limits, depth: lineage.depth, createChild } : null
    const code = openHomeCode(this.#environmentRequest(cwd))
    const registry = this.#registry({ checkpoints, code, delegation, allowed: lineage.tools })
    const toolsets = this.#selection(request)
    resolveToolsets(registry.toolsets(), toolsets)
    const environment = await this.#environment(cwd)
    const parent =
      answerer ??
      (await this.#answerer(request, environment).catch(async (error: unknown) => {
        await environment.close()
        throw error
      }))
    const { choice, credentials, fetch } = parent
    const model = this.#turnScopes.scoped(parent.model, { sessionId, rootSessionId: lineage.rootSessionId })
    const { surface, user } = this.#options
    const storage = await this.storage()
    const who = { model: model.model, provider: model.provider, baseUrl: choice.baseUrl }
    if (request.session) await storage.updateSession(request.session.id, who)
    const named = this.#sideTasks.named('compression', choice)
    const contextEngine = openContextEngine({
      settings: this.config.compression,
      windowOf: () => this.models.window(choice),
      models: [...(named ? [named] : []), model],
      clock: this.#clock,
      logger: this.#logger,
    })
    const agent = createAgent({
      model,
      tools: registry,
      toolsets,
      store: storage,
      sessionId,
      session: { cwd, ...who, ...originOf(lineage, surface) },
      environment,
      hooks: checkpoints.hooks,
      policy: this.policy,
      subject: { surface, user, ...subjectOf(lineage) },
      system: () =>
        this.#systemPrompt({ environment, cwd, model: choice.model, instructions: request.instructions, lineage }),
      loopGuard: loopGuardOf(this.config, { surface, lineage }),
      maxTurns: request.maxTurns ?? this.config.agent.max_turns,
      ...(contextEngine ? { contextEngine } : {}),
      redact: this.#redact([choice.apiKey]),
      logger: this.#logger,
      clock: this.#clock,
      ...(request.ask ? { ask: request.ask } : {}),
      ...(request.notices === undefined ? {} : { notices: request.notices }),
    })
    const models = async () => {
      if (model.provider === MIXTURE) return Object.keys(this.config.moa.presets)
      const apiKey = (await credentials?.select())?.secret ?? choice.apiKey
      return listModels({ ...choice, apiKey, fetch }).catch(() => [])
    }
    const closeEnvironment = async () => {
      await Promise.all([environment.close(), checkpoints.close(), code.close()])
    }
    this.#closers.add(closeEnvironment)
    return {
      agent,
      model: model.model,
      provider: model.provider,
      cwd,
      models,
      limits: () => model.limits(),
      sideTask: (task) => this.#sideTasks.client(task, choice),
      nameSession: () =>
        isRecorded(request) ? Promise.resolve(null) : this.#sideTasks.nameSession(agent.sessionId, choice),
      hasProcesses: () => environment.processes().some((process) => process.info().endedAtMs === null),
      close: async () => {
        this.#closers.delete(closeEnvironment)
        this.#turnScopes.forget(sessionId)
        await closeEnvironment()
      },
    }
  }

  async tools(): Promise<readonly ToolStatus[]> {
    const registry = this.#registry()
    const enabled = resolveToolsets(registry.toolsets(), this.#selection({}))
    const available = (await registry.definitions()).map(({ name }) => name)
    return registry.names().map((name) => {
      const { toolset, description, requires = [] } = registry.get(name)!
      const [isEnabled, isAvailable] = [enabled.includes(name), available.includes(name)]
      return { name, toolset, description, isEnabled, isAvailable, requires }
    })
  }

  toolsets(): Readonly<Record<string, { readonly description: string; readonly tools: readonly string[] }>> {
    const all = this.#registry().toolsets()
    return Object.fromEntries(
      Object.entries(all).map(([name, { description }]) => [
        name,
        { description, tools: resolveToolsets(all, { enabled: [name] }) },
      ]),
    )
  }

  #registry({ checkpoints, code, delegation, allowed }: Partial<RegistryParts> = {}): ToolRegistry {
    const { services: snapshots } = checkpoints ?? this.checkpoints.forAgent(this.#options.cwd)
    const services = {
      ...toolSettings(this.config),
      ...snapshots,
      storage: () => this.storage(),
      memory: this.memory?.open ?? null,
      code: code ?? openHomeCode(this.#environmentRequest(this.#options.cwd)),
      mixture: Object.keys(this.config.moa.presets).length > 0 ? () => this.#mixtureClient() : null,
      // For a list of tools it does not matter how a child would be made.
      delegation:
        delegation === undefined
          ? { limits: delegationLimits(this.config), depth: 0, createChild: noChild }
          : delegation,
      clock: this.#clock,
    }
    const tools = toolFactories.map((create) => withLearningHints(create(services), services))
    return createToolRegistry({ tools: allowed ? tools.filter(({ name }) => allowed.includes(name)) : tools })
  }

  /** A child asks for what config.yaml gives children, and works where its parent is. */
  #childRequest(cwd: string): AgentRequest {
    const { model, provider, base_url: baseUrl, max_iterations: maxTurns } = this.config.delegation
    return {
      ...(model === undefined ? {} : { model }),
      ...(provider === undefined ? {} : { provider }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      cwd,
      maxTurns,
      toolsets: ['all'],
      notices: false,
    }
  }

  #childAnswerer(parent: Answerer): Answerer | null {
    const { model, provider, base_url: baseUrl } = this.config.delegation
    return model === undefined && provider === undefined && baseUrl === undefined ? parent : null
  }

  #selection({ toolsets, withoutToolsets = [] }: Pick<AgentRequest, 'toolsets' | 'withoutToolsets'>): ToolsetSelection {
    return {
      enabled: toolsets ?? this.config.toolsets,
      disabled: [...this.config.agent.disabled_toolsets, ...withoutToolsets],
    }
  }

  terminalBackends(options: { readonly isOffline: boolean }): Promise<readonly BackendStatus[]> {
    return import('./terminal-backends.js').then((module) =>
      module.terminalBackends(this.#environmentRequest(this.#options.cwd), options),
    )
  }

  #environment(cwd: string): Promise<Environment> {
    return openEnvironment(this.#environmentRequest(cwd))
  }

  #environmentRequest(cwd: string): EnvironmentRequest {
    const { secrets } = this.#loaded
    const secretNames = [...PROVIDERS.flatMap((provider) => provider.keyVariables), ...secrets.secretNames]
    const [logger, clock] = [this.#logger, this.#clock]
    return { ...this.#options, config: this.config, cwd, secrets: secrets.values, secretNames, logger, clock }
  }

  async #answerer(request: AgentRequest, environment: Environment): Promise<Answerer> {
    await this.#loaded.stored.look()
    const asked = request.replay === undefined ? await this.#routed(request) : request
    const mixture = request.replay === undefined ? this.#mixture(asked) : null
    if (!mixture)
      return this.#model(request, environment, request.replay === undefined ? this.chooseModel(asked) : REPLAYED)
    const { createMixtureClient } = await import('@hermes/models/mixture')
    const answerer = await this.#model(request, environment, mixture.aggregator)
    const model = createMixtureClient({
      provider: MIXTURE,
      model: mixture.preset,
      references: await this.#clientsOf(mixture.references),
      aggregator: answerer.model,
      logger: this.#logger,
    })
    return { ...answerer, model: Object.assign(model, { limits: () => answerer.model.limits() }) }
  }

  async #model(request: AgentRequest, environment: Environment, chosen: ModelChoice): Promise<Answerer> {
    const traffic = await openTraffic({
      ...request,
      choice: chosen,
      fetchTo: (baseUrl) => this.fetchTo(baseUrl),
      probe: await probeFor(request, environment),
      tempDir: this.#options.tempDir,
    })
    if (traffic.close) this.#closers.add(traffic.close)
    const choice =
      request.replay === undefined
        ? chosen
        : { ...chosen, api: traffic.api, model: request.model ?? traffic.model ?? 'recorded' }
    const cacheTtl = this.config.prompt_caching.cache_ttl
    const fallbacks = chosen === REPLAYED || request.record !== undefined ? [] : this.#usableFallbacks()
    const credentials = chosen === REPLAYED ? null : await this.credentialsFor(choice)
    const model = createModelClient({
      ...toModelEndpoint(
        { ...choice, baseUrl: traffic.baseUrl },
        {
          fetch: traffic.fetch,
          cacheTtl,
          credentials,
          prices: this.models.pricesOf(choice, cacheTtl),
          contextLength: () => this.models.knownWindow(choice),
        },
      ),
      fallbacks: await Promise.all(fallbacks.map((one) => this.#endpointOf(one))),
      ...(chosen === REPLAYED ? {} : await this.#books()),
      maxRetries: this.config.agent.api_max_retries,
      clock: this.#clock,
      logger: this.#logger,
    })
    const isReal = chosen !== REPLAYED && request.record === undefined
    return { choice, model: isReal ? this.models.watch(model, choice) : model, credentials, fetch: traffic.fetch }
  }

  /** A new session for which nobody named a model goes where the rules of config.yaml send it, and stays there. */
  async #routed(request: AgentRequest): Promise<AgentRequest> {
    const { routing, timezone } = this.config
    const isNamed = [request.session, request.provider, request.model, request.baseUrl].some((one) => one !== undefined)
    if (routing.length === 0 || isNamed) return request
    const [{ routeFor }, { knownTimeZone }] = await Promise.all([
      import('./routing.js'),
      import('@hermes/models/spending'),
    ])
    const start = { kind: this.#options.surface, text: request.firstText, atMs: this.#clock.now() }
    return { ...request, ...routeFor(routing, { ...start, timeZone: knownTimeZone(timezone) }) }
  }

  async #endpointOf(choice: ModelChoice): Promise<ModelEndpoint> {
    const cacheTtl = this.config.prompt_caching.cache_ttl
    return toModelEndpoint(choice, {
      fetch: this.fetchTo(choice.baseUrl),
      cacheTtl,
      prices: this.models.pricesOf(choice, cacheTtl),
      contextLength: () => this.models.knownWindow(choice),
      credentials: await this.credentialsFor(choice),
    })
  }

  /** Plain clients of models that stand beside a conversation. */
  async #clientsOf(choices: readonly ModelChoice[]): Promise<readonly ResilientModelClient[]> {
    const books = await this.#books()
    const [clock, logger] = [this.#clock, this.#logger]
    const endpoints = await Promise.all(choices.map((choice) => this.#endpointOf(choice)))
    return endpoints.map((endpoint) => createModelClient({ ...endpoint, ...books, maxRetries: 1, clock, logger }))
  }

  /** The default mixture, for a question put to it by a tool. */
  async #mixtureClient(): Promise<ModelClient> {
    const { preset, references, aggregator } = chooseMixture({ settings: this.config.moa, wishes: this.#wishes() })
    const { createMixtureClient } = await import('@hermes/models/mixture')
    const [first, ...others] = await this.#clientsOf([aggregator, ...references])
    const logger = this.#logger
    return createMixtureClient({ provider: MIXTURE, model: preset, aggregator: first!, references: others, logger })
  }

  /** Where finished calls are written down, and what they may come to; the same for all agents of this home. */
  #books(): Promise<Spending> {
    this.#spending ??= openSpending({
      config: this.config,
      ledger: async () => (await this.storage()).ledger,
      clock: this.#clock,
      logger: this.#logger,
    })
    return this.#spending
  }

  #usableFallbacks(): readonly ModelChoice[] {
    const { choices, problems } = this.fallbacks()
    for (const problem of problems) this.#logger.warn(problem)
    return choices
  }

  fallbacks(): Fallbacks {
    const { fallback_providers: entries } = this.config
    if (entries.length === 0) return { choices: [], problems: [] }
    return chooseFallbacks(entries, this.#wishes())
  }

  /** Takes out the secrets of the home and `more` of them. */
  #redact(more: readonly (string | null | undefined)[]): (text: string) => string {
    const { values, secretNames } = this.#loaded.secrets
    const secrets = secretNames.map((name) => values[name] ?? '')
    const standIns = this.fallbacks().choices.map(({ apiKey }) => apiKey ?? '')
    const redactor = createRedactor({
      secrets: [...secrets, ...more, ...standIns].filter((secret): secret is string => Boolean(secret)),
    })
    return (text) => this.#poolRedactor.redactValues(redactor.redactValues(text))
  }

  async #systemPrompt(of: PromptFacts): Promise<string> {
    const maxChars = this.config.context_file_max_chars
    const isChild = of.lineage.depth > 0
    const [identity, contextFile, probe, memory] = await Promise.all([
      isChild ? childInstructions(of.lineage.role) : readSoul(homeLayout(this.#options.home).soul, maxChars),
      findContextFile({ cwd: of.cwd, maxChars }),
      of.environment.probe(),
      isChild ? '' : (this.memory?.section() ?? ''),
    ])
    return buildSystemPrompt({
      ...(identity === null ? {} : { identity }),
      ...(isChild ? {} : { surface: this.#options.surface }),
      environment: probe,
      model: of.model,
      contextFiles: contextFile ? [contextFile] : [],
      memory,
      ...(of.instructions === undefined ? {} : { instructions: of.instructions }),
    })
  }

  async close(): Promise<void> {
    await this.permissions.flush()
    const storage = await this.#storage?.catch(() => null)
    const closers = [...this.#closers]
    this.#closers.clear()
    await this.#sideTasks.close()
    const books = await this.#spending?.catch(() => null)
    await books?.flush()
    const results = await Promise.allSettled([...closers.map((close) => close()), storage?.close()])
    await this.#dailyBackup?.finish()
    for (const result of results) {
      if (result.status === 'rejected')
        this.#logger.warn('Closing did not go cleanly.', { error: errorLine(result.reason) })
    }
    await this.#logger.flush?.()
  }
}

function probeFor(request: AgentRequest, environment: Environment) {
  return isRecorded(request) ? environment.probe() : null
}

function isRecorded({ record, replay }: AgentRequest): boolean {
  return record !== undefined || replay !== undefined
}

/** Who answers in place of a model; which one it stands for is in the recording. */
const REPLAYED: ModelChoice = {
  provider: 'custom',
  catalogueId: 'custom',
  model: 'recorded',
  baseUrl: 'http://127.0.0.1/v1',
  apiKey: null,
}
