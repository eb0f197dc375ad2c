import { join } from 'node:path'
import {
  type AgentMemory,
  type ChildPlace,
  type ChildTask,
  ChildTree,
  childInstructions,
  createAgent,
  createSessionId,
  type Delegation,
  type ReferenceOptions,
  type SystemPrompt,
} from '@hermes/agent-core'
import { type HermesConfig, homeLayout, loadConfig, loadPermissions, loadSecrets } from '@hermes/config'
import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import { type Entry, latestPrompt } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { CredentialSource, ModelClient } from '@hermes/contracts/model'
import type { Policy } from '@hermes/contracts/policy'
import {
  createToolRegistry,
  type KeepResult,
  resolveToolsets,
  type ToolRegistry,
  type ToolsetSelection,
} from '@hermes/registry'
import { createOriginFetch, createRedactor, type Proxies, parseRules, readProxies } from '@hermes/safety'
import { type Backups, openBackups, type Storage } from '@hermes/storage'
import { withLearningHints } from '@hermes/storage/tools'
import { listModels, PROVIDERS } from '@hermes/transports'
import { type Answerer, Answerers, isRecorded } from './answerers.js'
import { childRequest, namesModel } from './child-request.js'
import { openContextEngine } from './context-engine.js'
import { type Credentials, findCredentials, openCredentials, type StoredCredentials } from './credentials.js'
import type { EnvironmentRequest } from './environment-request.js'
import type { Fallbacks } from './fallbacks.js'
import { toolFactories } from './generated/tools.js'
import { type AgentCheckpoints, type HomeCheckpoints, openHomeCheckpoints } from './home-checkpoints.js'
import { type HomeCode, openHomeCode } from './home-code.js'
import { type HomeLongMemory, openHomeLongMemory } from './home-long-memory.js'
import { type HomeMemory, openHomeMemory } from './home-memory.js'
import { HomeModels } from './home-models.js'
import { type HomePolicy, openHomePolicy } from './home-policy.js'
import { configSecrets, redactingLogger } from './home-secrets.js'
import { keepResultsIn } from './kept-results.js'
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
import { MIXTURE, type MixtureChoice } from './mixtures.js'
import type { ModelChoice } from './model-choice.js'
import { openEnvironment } from './open-environment.js'
import { type HomeStore, openStore, storeSecrets } from './open-store.js'
import type { EnginePlace } from './own-context-engine.js'
import { referenceOptions } from './reference-sources.js'
import type { AgentRequest, MixtureRequest, ReadyAgent, Runtime, RuntimeOptions, ToolStatus } from './runtime.js'
import { disclosureOf, toolSettings, toolsetsOf } from './settings.js'
import { SideTasks } from './side-task-clients.js'
import { openSystemPrompt } from './system-prompt.js'
import type { BackendStatus } from './terminal-backends.js'
import { TurnScopes } from './turn-scopes.js'

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
  const { engine } = loaded.config.context
  const engines =
    engine === 'compressor'
      ? []
      : (await import('./own-context-engine.js')).engineProblems({ engine, home, userHome: options.userHome })
  return new HomeRuntime(options, {
    config: loaded.config,
    secrets,
    rules: rules.rules,
    proxies,
    stored,
    problems: [...problems, ...stored.problems, ...rules.problems, ...proxyProblems, ...routes, ...engines],
  })
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

const CLOSE_CHILDREN_WITHIN_MS = 5_000

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
  readonly #trees = new Set<ChildTree>()
  readonly #credentials: Credentials
  /** Knows the keys and tokens of `auth.json` once they are used. */
  readonly #poolRedactor = createRedactor({ secrets: [] })
  readonly memory: HomeMemory | null
  readonly longMemory: HomeLongMemory | null
  #store: Promise<HomeStore> | null = null
  readonly #answerers: Answerers
  readonly #sideTasks: SideTasks
  readonly #turnScopes = new TurnScopes()
  readonly #keepResult: KeepResult
  /** Who answers in each session that is open. */
  readonly #choices = new Map<string, ModelChoice>()

  constructor(options: RuntimeOptions, loaded: Loaded) {
    this.#options = options
    this.#loaded = loaded
    this.#logger = options.logger ? redactingLogger(options.logger, () => this.#redact([])) : silentLogger
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
    this.#answerers = new Answerers({
      config,
      surface: options.surface,
      tempDir: options.tempDir,
      secrets: secrets.values,
      stored,
      credentials: this.#credentials,
      models: this.models,
      fetchTo: (address) => this.fetchTo(address),
      storage: () => this.storage(),
      atClose: (close) => this.#closers.add(close),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.#sideTasks = new SideTasks({
      config: this.config,
      memory: () => this.memory,
      wishes: () => this.#answerers.wishes(),
      fallbacks: () => this.fallbacks().choices,
      sees: (choice) => this.models.sees(choice),
      endpointOf: (choice) => this.#answerers.endpointOf(choice),
      choiceOf: (session) => this.#answerers.chooseModel({ session }),
      books: () => this.#answerers.books(),
      storage: () => this.storage(),
      clock: this.#clock,
      logger: this.#logger,
    })
    const { home, userHome, cwd } = options
    this.longMemory = this.#longMemory(config.memory)
    this.memory = openHomeMemory({
      home,
      settings: config.memory,
      redact: (text) => this.#redact([])(text),
      clock: this.#clock,
    })
    this.checkpoints = openHomeCheckpoints({
      home,
      userHome,
      settings: config.checkpoints,
      store: () => this.storage(),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.#keepResult = keepResultsIn({
      directory: join(homeLayout(home).cache, 'results'),
      redact: () => this.#redact([]),
      clock: this.#clock,
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
      reviewModel: (sessionId) => this.#reviewModel(sessionId),
      clock: this.#clock,
      logger: this.#logger,
    })
    this.policy = this.permissions.policy
  }

  async storage(): Promise<Storage> {
    const { home, tempDir: rescueDir, onNotice } = this.#options
    const told = onNotice ? { onNotice } : {}
    const options = { home, config: this.config, rescueDir, clock: this.#clock, logger: this.#logger, ...told }
    this.#store ??= openStore(options).catch((error: unknown) => {
      // A server that is down now may be up when somebody asks again.
      this.#store = null
      throw error
    })
    return (await this.#store).storage
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

  chooseModel(asked: Parameters<Runtime['chooseModel']>[0]): ModelChoice {
    return this.#answerers.chooseModel(asked)
  }

  fallbacks(): Fallbacks {
    return this.#answerers.fallbacks()
  }

  chooseMixture(preset?: string): MixtureChoice {
    return this.#answerers.chooseMixture(preset)
  }

  mixture(request?: MixtureRequest): Promise<ModelClient> {
    return this.#answerers.mixtureClient(request)
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
    const tree = lineage.tree ?? new ChildTree({ clock: this.#clock, logger: this.#logger })
    if (!lineage.tree) this.#trees.add(tree)
    const createChild = async (task: ChildTask, { agentPath, cwd: own }: ChildPlace): Promise<ReadyAgent> => {
      const place = childLineage(lineage, {
        task,
        agentPath,
        tree,
        parentSessionId: sessionId,
        // A session keeps the tools it began with, whatever toolsets it is gone on with.
        parentTools: registry.callable(
          (latestPrompt(agent.entries())?.tools ?? []).map(({ name }) => name),
          toolsets,
        ),
        toolsets: registry.toolsets(),
      })
      const start = { task, cwd: own ?? environment.cwd(), atMs: this.#clock.now() }
      const asked = await childRequest(this.config, start)
      const ownModel = namesModel(asked) && !isRecorded(request)
      const child = await this.#makeAgent(asked, place, ownModel ? null : parent)
      return { ...child, close: () => this.#endChild(child) }
    }
    const { depth, agentPath } = lineage
    const delegation = mayDelegate(lineage, limits) ? { limits, depth, agentPath, tree, createChild } : null
    const code = openHomeCode(this.#environmentRequest(cwd))
    const registry = this.#registry({ checkpoints, code, delegation, allowed: lineage.tools })
    const toolsets = this.#selection(request)
    resolveToolsets(registry.toolsets(), toolsets)
    const environment = await this.#environment(cwd)
    const closeEnvironment = async () => {
      await Promise.all([environment.close(), checkpoints.close(), code.close()])
    }
    const giveUp = async (error: unknown): Promise<never> => {
      if (!lineage.tree) this.#trees.delete(tree)
      await closeEnvironment()
      throw error
    }
    const parent = answerer ?? (await this.#answerers.answererFor(request, environment).catch(giveUp))
    const { choice, credentials, fetch } = parent
    const model = this.#turnScopes.scoped(parent.model, { sessionId, rootSessionId: lineage.rootSessionId })
    const { surface, user } = this.#options
    const storage = await this.storage().catch(giveUp)
    const who = { model: model.model, provider: model.provider, baseUrl: choice.baseUrl }
    if (request.session) await storage.updateSession(request.session.id, who).catch(giveUp)
    const named = this.#sideTasks.named('compression', choice)
    const isRoot = lineage.depth === 0
    const contextEngine = openContextEngine({
      ...(isRoot ? { beforeCompaction: (entries) => this.#keepWhatLasts(sessionId, entries, choice) } : {}),
      settings: this.config.compression,
      own: this.#ownEngine(),
      windowOf: () => this.models.window(choice),
      models: [...(named ? [named] : []), model],
      scopeOf: (cause) => this.#turnScopes.scopeOf(sessionId, cause !== 'asked'),
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
      ...(isRoot ? { children: tree } : {}),
      hooks: checkpoints.hooks,
      policy: this.policy,
      subject: { surface, user, ...subjectOf(lineage) },
      system: () =>
        this.#systemPrompt({ environment, cwd, model: choice.model, instructions: request.instructions, lineage }),
      loopGuard: loopGuardOf(this.config, { surface, lineage }),
      maxTurns: request.maxTurns ?? this.config.agent.max_turns,
      ...(contextEngine ? { contextEngine } : {}),
      ...(isRoot ? { memory: this.#agentMemory() } : {}),
      ...(lineage.depth > 0 || request.references === false ? {} : { references: this.#references(choice) }),
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
    this.#closers.add(closeEnvironment)
    this.#choices.set(sessionId, choice)
    return {
      agent,
      model: model.model,
      provider: model.provider,
      cwd,
      models,
      limits: () => model.limits(),
      sideTask: (task) => this.#sideTasks.client(task, choice),
      nameSession: async () => {
        if (isRecorded(request)) return null
        void this.#sideTasks.sumUp(null)
        return this.#sideTasks.nameSession(agent.sessionId, choice)
      },
      children: tree,
      hasProcesses: () =>
        tree.unfinished(agentPath).length > 0 ||
        environment.processes().some((process) => process.info().endedAtMs === null),
      close: async () => {
        if (lineage.depth === 0) await this.#closeTree(tree)
        this.#closers.delete(closeEnvironment)
        this.#turnScopes.forget(sessionId)
        this.#choices.delete(sessionId)
        if (lineage.depth === 0 && !isRecorded(request) && agent.entries().length > 0)
          void this.#sideTasks.sumUp(sessionId)
        await closeEnvironment()
      },
    }
  }

  /** Chosen as for any side task: what config.yaml names, else the model of the session. */
  #reviewModel(sessionId: string): Promise<ModelClient> {
    return this.#sideTasks.client('approval', this.#choices.get(sessionId) ?? this.chooseModel({}))
  }

  async #seesImages(sessionId: string): Promise<boolean> {
    const choice = this.#choices.get(sessionId)
    return choice !== undefined && this.models.sees(choice)
  }

  memoryProvider(settings: Parameters<Runtime['memoryProvider']>[0]): HomeLongMemory {
    // One with a name is always there.
    return this.#longMemory({ ...this.config.memory, ...settings })!
  }

  #longMemory(settings: HermesConfig['memory']): HomeLongMemory | null {
    const { home, user } = this.#options
    return openHomeLongMemory({
      home,
      settings,
      secrets: this.#loaded.secrets.values,
      user,
      fetchTo: (address) => this.fetchTo(address),
      onSecret: this.#poolRedactor.add,
      redact: (text) => this.#redact([])(text),
      clock: this.#clock,
      logger: this.#logger,
    })
  }

  #agentMemory(): AgentMemory {
    const { longMemory } = this
    const nudgeAfter = this.memory ? this.config.memory.nudge_interval : 0
    return longMemory ? { nudgeAfter, recall: longMemory.recall, keep: longMemory.keep } : { nudgeAfter }
  }

  /** Nobody waits for it: the log keeps what is condensed. */
  #keepWhatLasts(sessionId: string, entries: readonly Entry[], choice: ModelChoice): void {
    const client = () => this.#sideTasks.client('compression', choice)
    void this.#sideTasks.keepWhatLasts(sessionId, entries, client)
  }

  async tools(): Promise<readonly ToolStatus[]> {
    const registry = this.#registry()
    const enabled = resolveToolsets(registry.toolsets(), this.#selection({}))
    const available = await registry.available()
    return registry.names().map((name) => {
      const { toolset, description, requires = [] } = registry.get(name)!
      const [isEnabled, isAvailable] = [enabled.includes(name), available.includes(name)]
      return { name, toolset, description, isEnabled, isAvailable, requires }
    })
  }

  toolsets(): ReturnType<Runtime['toolsets']> {
    const all = this.#registry().toolsets()
    return Object.fromEntries(
      Object.entries(all).map(([name, { description, includes }]) => [
        name,
        { description, includes, tools: resolveToolsets(all, { enabled: [name] }) },
      ]),
    )
  }

  #registry({ checkpoints, code, delegation, allowed }: Partial<RegistryParts> = {}): ToolRegistry {
    const { services: snapshots } = checkpoints ?? this.checkpoints.forAgent(this.#options.cwd)
    const services = {
      ...toolSettings(this.config),
      ...snapshots,
      seesImages: (sessionId: string) => this.#seesImages(sessionId),
      storage: () => this.storage(),
      memory: this.memory?.open ?? null,
      recall: this.longMemory,
      code: code ?? openHomeCode(this.#environmentRequest(this.#options.cwd)),
      mixture:
        Object.keys(this.config.moa.presets).length > 0
          ? async () => this.#turnScopes.forTools(await this.#answerers.mixtureClient())
          : null,
      // For a list of tools it does not matter how a child would be made.
      delegation:
        delegation === undefined
          ? { limits: delegationLimits(this.config), depth: 0, createChild: noChild }
          : delegation,
      clock: this.#clock,
    }
    const tools = toolFactories.map((create) => withLearningHints(create(services), services))
    return createToolRegistry({
      tools: allowed ? tools.filter(({ name }) => allowed.includes(name)) : tools,
      disclosure: disclosureOf(this.config),
      keepResult: this.#keepResult,
    })
  }

  #selection({ toolsets, withoutToolsets = [] }: Pick<AgentRequest, 'toolsets' | 'withoutToolsets'>): ToolsetSelection {
    return {
      enabled: toolsets ?? toolsetsOf(this.config, this.#options.surface),
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

  /** Takes out the secrets of the home and `more` of them. */
  #redact(more: readonly (string | null | undefined)[]): (text: string) => string {
    const { values, secretNames } = this.#loaded.secrets
    const secrets = secretNames.map((name) => values[name] ?? '')
    const standIns = this.fallbacks().choices.map(({ apiKey }) => apiKey ?? '')
    const redactor = createRedactor({
      secrets: [
        ...secrets,
        ...configSecrets(this.config),
        ...this.#loaded.stored.secrets,
        ...storeSecrets(this.config),
        ...more,
        ...standIns,
      ].filter((secret): secret is string => Boolean(secret)),
    })
    return (text) => this.#poolRedactor.redactValues(redactor.redactValues(text))
  }

  #ownEngine(): EnginePlace | null {
    const { engine } = this.config.context
    const { home, userHome } = this.#options
    return engine === 'compressor' ? null : { engine, home, userHome }
  }

  #references(choice: ModelChoice): ReferenceOptions {
    return referenceOptions({
      windowTokens: () => this.models.window(choice),
      storage: () => this.storage(),
      proxies: this.#loaded.proxies,
    })
  }

  async prompt(request: Parameters<Runtime['prompt']>[0]): ReturnType<Runtime['prompt']> {
    const { cwd = this.#options.cwd, instructions } = request
    const environment = await this.#environment(cwd)
    try {
      const model = this.#modelName(request)
      const system = await this.#systemPrompt({ environment, cwd, model, instructions, lineage: ROOT })
      return { system, tools: await this.#registry().definitions(this.#selection(request)) }
    } finally {
      await environment.close()
    }
  }

  #modelName(request: Pick<AgentRequest, 'model' | 'provider'>): string {
    try {
      return this.chooseModel(request).model
    } catch {
      return request.model ?? ''
    }
  }

  async #systemPrompt(of: PromptFacts): Promise<SystemPrompt> {
    const isChild = of.lineage.depth > 0
    return openSystemPrompt({
      cwd: of.cwd,
      soul: isChild ? childInstructions(of.lineage.role) : { path: homeLayout(this.#options.home).soul },
      surface: isChild ? null : this.#options.surface,
      environment: of.environment,
      model: of.model,
      memory: isChild ? null : this.memory,
      instructions: of.instructions,
      config: this.config,
    })
  }

  /** Nobody goes on with the session of a task that was handed on. */
  async #endChild({ agent, close }: ReadyAgent): Promise<void> {
    await close()
    const end = { endedAtMs: this.#clock.now(), endReason: 'task_end' }
    // One that never ran has no session.
    await (await this.storage()).updateSession(agent.sessionId, end).catch(() => undefined)
  }

  /** What nobody waits for still leaves its result, for the next time. */
  async #closeTree(tree: ChildTree): Promise<void> {
    this.#trees.delete(tree)
    await tree.close(CLOSE_CHILDREN_WITHIN_MS)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#trees].map((tree) => this.#closeTree(tree)))
    await this.permissions.flush()
    const store = await this.#store?.catch(() => null)
    const closers = [...this.#closers]
    this.#closers.clear()
    await Promise.all([this.#sideTasks.close(), this.longMemory?.close()])
    await this.#answerers.flush()
    const results = await Promise.allSettled([...closers.map((close) => close()), store?.storage.close()])
    await store?.dailyBackup?.finish()
    for (const result of results) {
      if (result.status === 'rejected')
        this.#logger.warn('Closing did not go cleanly.', { error: errorLine(result.reason) })
    }
    await this.#logger.flush?.()
  }
}
