import { join } from 'node:path'
import { createExtensionRegistry, type ExtensionRegistry } from '@hermes/agent-core'
import type { HomeBrowser } from '@hermes/browser'
import { type HomeCheckpoints, openHomeCheckpoints } from '@hermes/checkpoints/extension'
import { type HermesConfig, homeLayout, type TrustStore } from '@hermes/config'
import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { ImagePart } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { CredentialSource, ModelClient } from '@hermes/contracts/model'
import type { Policy } from '@hermes/contracts/policy'
import type { HomeHooks } from '@hermes/hooks'
import type { HomeMcp } from '@hermes/mcp'
import { createOriginFetch } from '@hermes/safety'
import {
  createIsolationSupport,
  type IsolationSupport,
  type SharedLogins,
  type Workspaces,
  writableRoots,
} from '@hermes/sandbox'
import type { HomeSkills } from '@hermes/skills'
import { type Backups, openBackups, type Storage } from '@hermes/storage'
import { PROVIDERS } from '@hermes/transports'
import type { Web } from '@hermes/web'
import { HomeAgents, SKILL_TOOL } from './agents/home-agents.js'
import { openHomeCode } from './agents/home-code.js'
import { HomeTools } from './agents/home-tools.js'
import { openHomeBrowser } from './browser/home-browser.js'
import { keepResultsIn } from './context/kept-results.js'
import type { EnvironmentRequest } from './environment/environment-request.js'
import { isolationOf } from './environment/isolation-options.js'
import { openEnvironment } from './environment/open-environment.js'
import type { BackendStatus } from './environment/terminal-backends.js'
import { builtInExtensions } from './extensions/built-in.js'
import { readConfigSections } from './extensions/config-sections.js'
import { runJobs } from './extensions/job-runner.js'
import { HomeRedaction } from './home/home-redaction.js'
import { redactingLogger } from './home/home-secrets.js'
import { networkOf } from './home/network-settings.js'
import { type HomeStore, openStore, rescueDirsOf } from './home/open-store.js'
import { type HomeFacts, readHome } from './home/read-home.js'
import { isSafe } from './home/started-with.js'
import { openHomeHooks } from './hooks/open-home-hooks.js'
import { openHomeMcp } from './mcp/home-mcp.js'
import { type HomeLongMemory, openHomeLongMemory } from './memory/home-long-memory.js'
import { type HomeMemory, openHomeMemory } from './memory/home-memory.js'
import { PersonalMemories } from './memory/personal-memory.js'
import { AuxiliaryTasks } from './models/auxiliary-task-clients.js'
import { type Credentials, openCredentials } from './models/credentials.js'
import { extensionProviders } from './models/extension-providers.js'
import type { Fallbacks } from './models/fallbacks.js'
import { HomeModels } from './models/home-models.js'
import type { MixtureChoice } from './models/mixtures.js'
import type { ModelChoice, ModelChoiceOptions } from './models/model-choice.js'
import { ModelResolver } from './models/model-resolver.js'
import { cacheOf, type People, readPeople } from './people/people.js'
import { agreeToHooks } from './plugins/open-home-plugins.js'
import { currentDenials, currentRules } from './policy/current-rules.js'
import { type HomePolicy, openHomePolicy } from './policy/home-policy.js'
import { TurnScopes } from './policy/turn-scopes.js'
import type {
  AgentRequest,
  MixtureRequest,
  ReadyAgent,
  Runtime,
  RuntimeOptions,
  SessionJob,
  ToolStatus,
} from './runtime.js'
import { openHomeSkills } from './skills/home-skills.js'
import type { PersonFetch } from './web/fetch-for-person.js'
import { openHomeWeb, webExtension } from './web/home-web.js'

/**
 * Opens a home. Broken configuration never stops it: see `problems`.
 * @throws HermesError `runtime.bad_home` when the folder is missing and cannot be made.
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  return new HomeRuntime(options, await readHome(options))
}

/** What most parts of a home are opened with. */
interface Common extends Pick<RuntimeOptions, 'home' | 'userHome' | 'cwd'> {
  readonly config: HermesConfig
  readonly fetchTo: (address: string) => typeof fetch
  readonly storage: () => Promise<Storage>
  readonly clock: Clock
  readonly logger: Logger
}

class HomeRuntime implements Runtime {
  readonly config: HermesConfig
  readonly problems: readonly string[]
  readonly rescueDirs: readonly string[]
  readonly policy: Policy
  readonly permissions: HomePolicy
  readonly checkpoints: HomeCheckpoints
  readonly mcp: HomeMcp
  readonly web: Web
  readonly browser: HomeBrowser
  readonly skills: HomeSkills
  readonly extensions: ExtensionRegistry
  readonly #options: RuntimeOptions
  readonly #loaded: HomeFacts
  readonly #logger: Logger
  readonly #clock: Clock
  readonly models: HomeModels
  readonly #closers = new Set<() => Promise<void>>()
  readonly #credentials: Credentials
  readonly #redaction: HomeRedaction
  #extensionProviders: ModelChoiceOptions['endpoints'] = {}
  readonly people: People
  readonly trust: TrustStore
  readonly hooks: HomeHooks
  readonly #memories: PersonalMemories
  #store: Promise<HomeStore> | null = null
  readonly #modelResolver: ModelResolver
  readonly #auxiliaryTasks: AuxiliaryTasks
  readonly #tools: HomeTools
  readonly #agents: HomeAgents
  readonly #isolationSupport: IsolationSupport
  readonly #workspaces: Workspaces = new Map()
  readonly #logins: SharedLogins = new Map()

  constructor(options: RuntimeOptions, loaded: HomeFacts) {
    const { home, userHome, cwd, tempDir } = options
    const { config, secrets, stored } = loaded
    this.#isolationSupport = createIsolationSupport({ remembered: join(homeLayout(home).cache, 'isolation') })
    this.#options = options
    this.#loaded = loaded
    this.#redaction = new HomeRedaction({
      config,
      secrets,
      stored,
      endpoints: () => this.#extensionProviders,
      fallbacks: () => this.fallbacks().choices,
    })
    this.#logger = options.logger ? redactingLogger(options.logger, () => this.#redaction.redactor()) : silentLogger
    this.#clock = options.clock ?? systemClock
    this.config = config
    this.rescueDirs = rescueDirsOf(options)
    const common: Common = {
      ...{ home, userHome, cwd, config, clock: this.#clock, logger: this.#logger },
      fetchTo: (address) => this.fetchTo(address),
      storage: () => this.storage(),
    }
    this.models = new HomeModels({ ...common, cacheDir: homeLayout(home).cache })
    this.#closers.add(() => this.models.close())
    const keys = { ...common, secrets: secrets.values, onSecret: this.#redaction.conceal }
    this.#credentials = openCredentials(keys, stored)
    this.#modelResolver = new ModelResolver({
      ...common,
      fetchTo: (address) => this.#fetchToModel(address),
      tempDir,
      secrets: secrets.values,
      stored,
      credentials: this.#credentials,
      models: this.models,
      extensionProviders: () => this.#extensionProviders,
      atClose: (close) => this.#closers.add(close),
    })
    this.#auxiliaryTasks = new AuxiliaryTasks({
      ...common,
      memory: (person) => this.#memories.of(person).files,
      modelOptions: () => this.#modelResolver.modelOptions(),
      fallbacks: () => this.fallbacks().choices,
      sees: (choice) => this.models.sees(choice),
      endpointOf: (choice) => this.#modelResolver.endpointOf(choice),
      choiceOf: (session) => this.#modelResolver.chooseModel({ session }),
      spending: () => this.#modelResolver.spending(),
    })
    this.people = readPeople(config)
    this.trust = loaded.trust
    this.#memories = new PersonalMemories({
      directory: homeLayout(home).memories,
      groupsSeeOwner: config.groups.memory === 'owner',
      openFiles: (directory) =>
        openHomeMemory({
          ...common,
          directory,
          settings: config.memory,
          redact: (text) => this.#redaction.redactor()(text),
        }),
      openLong: (person) => this.#longMemory(config.memory, person ?? undefined),
    })
    this.checkpoints = openHomeCheckpoints({
      ...common,
      directory: homeLayout(home).checkpoints,
      settings: config.checkpoints,
      backend: config.terminal.backend,
      store: common.storage,
    })
    this.permissions = openHomePolicy({
      ...common,
      path: options.env['PATH'] ?? '',
      yolo: options.yolo ?? false,
      rules: loaded.rules,
      currentRules: currentRules({ home: options.home, rules: loaded.rules, asksAlways: loaded.asksAlways }),
      currentDenials: (known) => currentDenials({ home: options.home, env: options.env, known }),
      writeRoots: loaded.writeRoots,
      redactor: () => this.#redaction.redactor(),
      reviewModel: (sessionId) => this.#reviewModel(sessionId),
    })
    this.policy = this.permissions.policy
    this.hooks = openHomeHooks({
      ...common,
      ...{ env: options.env, user: options.user, secrets: secrets.values, trust: this.trust, policy: this.policy },
      ...(options.acceptHooks === undefined ? {} : { acceptHooks: options.acceptHooks }),
      isSafe: isSafe(options),
      pluginHooks: () => loaded.plugins.plugins.hooks(),
      secretNames: () => [...secrets.secretNames, ...this.#redaction.keyVariables()],
    })
    this.mcp = openHomeMcp({
      ...common,
      own: loaded.ownConfig.own,
      brought: loaded.plugins.plugins.servers,
      env: options.env,
      tempDir,
      user: options.user,
      policy: this.policy,
      isolationSupport: this.#isolationSupport,
      conceal: this.#redaction.conceal,
      modelOf: (sessionId) => this.#auxiliaryTasks.client('mcp', this.#choiceOf(sessionId)),
    })
    this.web = openHomeWeb({
      ...common,
      secrets: secrets.values,
      proxies: loaded.proxies,
      permissions: this.permissions,
      extensions: () => this.extensions,
      isolationSupport: this.#isolationSupport,
    })
    this.#closers.add(() => this.web.close())
    loaded.plugins.serve({
      policy: this.policy,
      isolationSupport: this.#isolationSupport,
      fetchTo: (address) => this.#fetchAsPlugin(address),
      agreeToHooks: (source) => agreeToHooks(this.hooks, cwd, source),
      logger: this.#logger,
    })
    this.browser = openHomeBrowser({
      ...common,
      env: options.env,
      user: options.user,
      policy: this.policy,
      proxies: loaded.proxies,
      pictures: {
        seesImages: (sessionId) => this.#seesImages(sessionId),
        describeImage: (image, about) => this.#describeImage(image, about),
      },
    })
    this.skills = openHomeSkills({
      ...common,
      ...{ env: options.env, user: options.user, tempDir, secrets: secrets.values, trust: this.trust },
      ...{ policy: this.policy, proxies: loaded.proxies },
      isSafe: isSafe(options) || options.ignoreRules === true,
      redact: (text) => this.#redaction.redactor()(text),
    })
    this.extensions = this.#setUpExtensions()
    const providers = extensionProviders(this.extensions)
    this.#extensionProviders = providers.endpoints
    const ofConfig = readConfigSections(this.extensions, loaded.ownConfig)
    const ofPlugins = loaded.plugins.plugins.problems
    const ofExtensions = [
      ...loaded.ownExtensions.problems,
      ...ofPlugins,
      ...this.extensions.problems,
      ...providers.problems,
    ]
    const ofEngine = this.extensions.factory('context-engine', config.context.engine) ? [] : loaded.engineProblems
    this.problems = [...ofConfig, ...loaded.problems, ...ofEngine, ...ofExtensions, ...this.people.problems]
    const { tools, agents } = this.#openAgents(common)
    this.#tools = tools
    this.#agents = agents
  }

  #openAgents(common: Common): { readonly tools: HomeTools; readonly agents: HomeAgents } {
    const { user } = this.#options
    const { secrets } = this.#loaded
    const turnScopes = new TurnScopes()
    const memoryOf = (person: string | null) => this.#memories.of(person)
    const parts = { checkpoints: this.checkpoints, memoryOf, web: this.web }
    const { skills } = this
    const codeIn = (cwd: string, person: string | null) => openHomeCode({ ...this.#environmentRequest(cwd), person })
    const tools = new HomeTools({
      ...common,
      ...parts,
      codeIn,
      seesImages: (sessionId) => this.#seesImages(sessionId),
      describeImage: (image, options) => this.#describeImage(image, options),
      fetchBytes: async (url, options) => {
        const { createPublicFetch } = await import('@hermes/safety/public-fetch')
        return createPublicFetch({ proxies: this.#loaded.proxies, network: networkOf(this.config) })(url, options)
      },
      extensionTools: this.extensions.tools,
      isolationSupport: this.#isolationSupport,
      sudo: { password: secrets.values['SUDO_PASSWORD'] || null, conceal: this.#redaction.conceal },
      mixture: async () => turnScopes.forTools(await this.#modelResolver.mixtureClient()),
      keepResult: keepResultsIn({
        directoryOf: (id) => cacheOf(common.home, this.#agents.personOf(id) ?? null).results,
        redact: () => this.#redaction.redactor(),
        clock: this.#clock,
      }),
    })
    const agents = new HomeAgents({
      ...common,
      ...parts,
      skills,
      codeIn,
      user,
      policy: this.policy,
      trust: this.trust,
      models: this.models,
      modelResolver: this.#modelResolver,
      auxiliaryTasks: this.#auxiliaryTasks,
      tools,
      serversOf: this.mcp.forSession,
      turnScopes,
      environmentIn: (cwd, of) => this.#environment(cwd, of),
      extensions: this.extensions,
      redact: (more) => this.#redaction.redactor(more),
      closers: this.#closers,
    })
    return { tools, agents }
  }

  #setUpExtensions(): ExtensionRegistry {
    const builtIn = builtInExtensions({
      config: this.config,
      checkpoints: this.checkpoints,
      mcp: this.mcp,
      web: webExtension(this.web, { policy: this.policy, user: this.#options.user }),
      plugins: this.#loaded.plugins.plugins,
      browser: this.browser,
      skills: this.skills,
      remembers: this.memory !== null,
      longMemoryOf: this.longMemory && ((sessionId) => this.#longMemoryOf(sessionId)),
      permissions: this.permissions,
      trust: this.trust,
      hooks: this.hooks,
      tools: () => this.tools(),
      toolsets: () => this.toolsets(),
      storage: () => this.storage(),
      proxies: this.#loaded.proxies,
      isolationSupport: this.#isolationSupport,
      clock: this.#clock,
      logger: this.#logger,
      runtime: () => this,
      opened: this.#options,
      seesImages: ({ session }) => this.#seesImages(session.id),
      takes: ({ session }, part) => this.models.takes(this.#choiceOf(session.id), part),
      flushUsage: () => this.#modelResolver.flush(),
      askJudge: (request, { sessionId, signal }) =>
        this.#auxiliaryTasks.judgeGoal(request, { sessionId, signal, main: this.#choiceOf(sessionId) }),
      describeImage: (image, { about, event: { session, signal } }) =>
        this.#describeImage(image, { about, sessionId: session.id, signal }),
      windowTokens: ({ session }) => this.models.window(this.#choiceOf(session.id)),
      delegated: (event) => this.#agents.delegated(event),
    })
    const parts = this.#options.extensions?.(builtIn) ?? builtIn
    const { plugins, ownExtensions } = this.#loaded
    const all = [...parts, ...ownExtensions.extensions, ...plugins.plugins.extensions]
    return createExtensionRegistry(all, { logger: this.#logger })
  }

  #choiceOf(sessionId: string): ModelChoice {
    return this.#agents.choiceOf(sessionId) ?? this.chooseModel({})
  }

  async storage(): Promise<Storage> {
    const { home, onNotice } = this.#options
    const noticeOptions = onNotice ? { onNotice } : {}
    const options = {
      home,
      config: this.config,
      rescueDirs: this.rescueDirs,
      clock: this.#clock,
      logger: this.#logger,
      ...noticeOptions,
    }
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

  redact(text: string): string {
    return this.#redaction.redactor()(text)
  }

  fetchTo(baseUrl: string): typeof fetch {
    return createOriginFetch({ baseUrl, proxies: this.#loaded.proxies })
  }

  async fetchForPerson(url: string, request: PersonFetch): Promise<Uint8Array> {
    const { fetchForPerson } = await import('./web/fetch-for-person.js')
    return fetchForPerson(url, request, { config: this.config, proxies: this.#loaded.proxies, policy: this.policy })
  }

  /** The hosts of a plugin are no choice of the person's: a name may not lead into their network. */
  #fetchAsPlugin(baseUrl: string): typeof fetch {
    const { config, proxies } = this.#loaded
    return async (input, init) => {
      const { createPublicLookup } = await import('@hermes/safety/public-fetch')
      const lookup = createPublicLookup({ network: networkOf(config) })
      return createOriginFetch({ baseUrl, proxies, lookup })(input, init)
    }
  }

  /** For model calls: asking twice costs nothing that asking anew would not. */
  #fetchToModel(baseUrl: string): typeof fetch {
    return createOriginFetch({ baseUrl, proxies: this.#loaded.proxies, repeatsPosts: true })
  }

  credentialsFor(choice: ModelChoice): Promise<CredentialSource | null> {
    return this.#credentials.sourceFor(choice)
  }

  chooseModel(requested: Parameters<Runtime['chooseModel']>[0]): ModelChoice {
    return this.#modelResolver.chooseModel(requested)
  }

  fallbacks(): Fallbacks {
    return this.#modelResolver.fallbacks()
  }

  chooseMixture(preset?: string): MixtureChoice {
    return this.#modelResolver.chooseMixture(preset)
  }

  mixture(request?: MixtureRequest): Promise<ModelClient> {
    return this.#modelResolver.mixtureClient(request)
  }

  createAgent(request: AgentRequest): Promise<ReadyAgent> {
    return this.#agents.create(request)
  }

  get sessionJobs(): readonly SessionJob[] {
    return this.#auxiliaryTasks.sessionJobs
  }

  doSessionJob(kind: SessionJob, sessionId: string): Promise<boolean> {
    return this.#auxiliaryTasks.doSessionJob(kind, sessionId, this.#agents.choiceOf(sessionId))
  }

  /** Chosen as for any auxiliary task: what config.yaml names, else the model of the session. */
  #reviewModel(sessionId: string): Promise<ModelClient> {
    return this.#auxiliaryTasks.client('approval', this.#choiceOf(sessionId))
  }

  async #seesImages(sessionId: string): Promise<boolean> {
    const choice = this.#agents.choiceOf(sessionId)
    return choice !== undefined && this.models.getsImages(choice)
  }

  /** Told by a model that sees, chosen as for any auxiliary task. */
  #describeImage(image: ImagePart, about: { about: string; sessionId: string; signal: AbortSignal }) {
    return this.#auxiliaryTasks.describeImage(image, { ...about, main: this.#choiceOf(about.sessionId) })
  }

  memoryProvider(settings: Parameters<Runtime['memoryProvider']>[0]): HomeLongMemory {
    // One with a name is always there.
    return this.#longMemory({ ...this.config.memory, ...settings })!
  }

  get memory(): HomeMemory | null {
    return this.#memories.owner.files
  }

  get longMemory(): HomeLongMemory | null {
    return this.#memories.owner.long
  }

  /** Of the person that an open session serves; of nobody for any other session. */
  #longMemoryOf(sessionId: string): HomeLongMemory | null {
    const person = this.#agents.personOf(sessionId)
    return person === undefined ? null : this.#memories.of(person).long
  }

  #longMemory(
    settings: HermesConfig['memory'],
    person?: { readonly name: string; readonly directory: string },
  ): HomeLongMemory | null {
    const { home, user } = this.#options
    return openHomeLongMemory({
      home,
      settings,
      secrets: this.#loaded.secrets.values,
      user,
      person,
      fetchTo: (address) => this.fetchTo(address),
      onSecret: this.#redaction.conceal,
      redact: (text) => this.#redaction.redactor()(text),
      ownProvider: () => this.extensions.factory('memory', settings.provider),
      clock: this.#clock,
      logger: this.#logger,
    })
  }

  runJobs(signal: AbortSignal): Promise<void> {
    const jobs = async () => (await this.storage()).jobs
    return runJobs({ registry: this.extensions, jobs, clock: this.#clock, logger: this.#logger }, signal)
  }

  tools(): Promise<readonly ToolStatus[]> {
    return this.#tools.list()
  }

  toolsets(): ReturnType<Runtime['toolsets']> {
    return this.#tools.toolsets()
  }

  terminalBackends(options: { readonly isOffline: boolean }): Promise<readonly BackendStatus[]> {
    return import('./environment/terminal-backends.js').then((module) =>
      module.terminalBackends(this.#environmentRequest(this.#options.cwd), options),
    )
  }

  isolatedTo(): readonly string[] | null {
    const { cwd, userHome } = this.#options
    const isolation = isolationOf(this.#environmentRequest(cwd))
    if (this.config.terminal.backend !== 'local' || !isolation || this.#isolationSupport.why() !== null) return null
    return writableRoots({ cwd, home: userHome, temp: [this.#options.tempDir], isolation })
  }

  #environment(cwd: string, of: Pick<EnvironmentRequest, 'task' | 'person'> = {}): Promise<Environment> {
    return openEnvironment({ ...this.#environmentRequest(cwd), ...of })
  }

  #environmentRequest(cwd: string): EnvironmentRequest {
    const { secrets } = this.#loaded
    const known = PROVIDERS.flatMap((provider) => provider.keyVariables)
    const secretNames = [...known, ...this.#redaction.keyVariables(), ...secrets.secretNames]
    const [logger, clock] = [this.#logger, this.#clock]
    const { config } = this
    const isolationSupport = this.#isolationSupport
    const ownBackend = this.extensions.factory('backend', config.terminal.backend)
    const machine = { isolationSupport, workspaces: this.#workspaces, logins: this.#logins, ownBackend }
    return { ...this.#options, config, cwd, secrets: secrets.values, secretNames, logger, clock, ...machine }
  }

  async prompt(request: Parameters<Runtime['prompt']>[0]): ReturnType<Runtime['prompt']> {
    const { cwd = this.#options.cwd, platform, instructions } = request
    const environment = await this.#environment(cwd)
    try {
      const model = this.#modelName(request)
      const tools = await this.#tools.registry().definitions(this.#tools.selection(request))
      const hasSkills = tools.some(({ name }) => name === SKILL_TOOL)
      const facts = { environment, cwd, model, platform, instructions, hasSkills }
      return { system: await this.#agents.systemPrompt(facts), tools }
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

  async close(reason = 'closed'): Promise<void> {
    await this.#agents.closeChildren()
    await this.#agents.endSessions(reason)
    await this.permissions.flush()
    const store = await this.#store?.catch(() => null)
    const closers = [...this.#closers]
    this.#closers.clear()
    await Promise.all([this.#auxiliaryTasks.close(), this.#memories.close()])
    await this.#modelResolver.flush()
    await store?.swept
    // A run that is ended still writes down what became of its calls.
    const agents = await Promise.allSettled(closers.map((close) => close()))
    await this.extensions.close()
    this.#loaded.ownExtensions.close()
    const results = [...agents, ...(await Promise.allSettled([store?.storage.close()]))]
    await store?.dailyBackup?.finish()
    for (const result of results) {
      if (result.status === 'rejected')
        this.#logger.warn('Closing did not go cleanly.', { error: errorLine(result.reason) })
    }
    await this.#logger.flush?.()
  }
}
