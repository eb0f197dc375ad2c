// A home, opened from the bottom up; each step gets what stands below it:
//
//   readHome ─▶ ground ─▶ models ─▶ memory ─▶ tasks beside them ─▶ permissions ─▶ parts ─▶ extensions ─▶ tools and agents ─▶ Runtime
//
// The registry of extensions stands in the ground, empty: what an extension brings is asked for when it is used, never while a home opens.

import { join } from 'node:path'
import { createExtensionRegistry } from '@hermes/agent-core'
import { openHomeCheckpoints } from '@hermes/checkpoints/extension'
import { homeLayout } from '@hermes/config'
import { errorLine, silentLogger, systemClock } from '@hermes/contracts'
import type { ImagePart } from '@hermes/contracts/conversation'
import { StagedNotes } from '@hermes/memory'
import { createIsolationSupport, type SharedLogins, SharedPipes, SharedWatcher, type Workspaces } from '@hermes/sandbox'
import type { HomeSkills } from '@hermes/skills'
import { PROVIDERS } from '@hermes/transports'
import { HomeAgents, SKILL_TOOL } from './agents/home-agents.js'
import { openHomeCode } from './agents/home-code.js'
import { HomeTools } from './agents/home-tools.js'
import { OpenSessions } from './agents/open-sessions.js'
import { openHomeBrowser } from './browser/home-browser.js'
import { homeMessaging } from './chats/home-messaging.js'
import { HomePlatforms } from './chats/home-platforms.js'
import { keepResultsIn } from './context/kept-results.js'
import { homeEnvironments } from './environment/home-environments.js'
import { builtInExtensions } from './extensions/built-in.js'
import { readConfigSections } from './extensions/config-sections.js'
import { runJobs } from './extensions/job-runner.js'
import { openNetwork } from './home/home-network.js'
import { HomeRedaction } from './home/home-redaction.js'
import { redactingLogger } from './home/home-secrets.js'
import { HomeStorage } from './home/home-storage.js'
import { type HomeFacts, readHome } from './home/read-home.js'
import { isSafe } from './home/started-with.js'
import { openHomeHooks } from './hooks/open-home-hooks.js'
import { broughtServers } from './mcp/brought-servers.js'
import { openHomeMcp } from './mcp/home-mcp.js'
import { type HomeLongMemory, openHomeLongMemory } from './memory/home-long-memory.js'
import { openHomeMemory } from './memory/home-memory.js'
import { PersonalMemories } from './memory/personal-memory.js'
import { AuxiliaryTasks } from './models/auxiliary-task-clients.js'
import { openCredentials } from './models/credentials.js'
import { extensionProviders } from './models/extension-providers.js'
import { HomeModels } from './models/home-models.js'
import type { ModelChoice } from './models/model-choice.js'
import { ModelResolver } from './models/model-resolver.js'
import { cacheOf, readPeople } from './people/people.js'
import { agreeToHooks } from './plugins/open-home-plugins.js'
import { currentDenials, currentRules } from './policy/current-rules.js'
import { type HomePolicy, openHomePolicy } from './policy/home-policy.js'
import { TurnScopes } from './policy/turn-scopes.js'
import type { Runtime, RuntimeOptions } from './runtime.js'
import { openHomeSkills } from './skills/home-skills.js'
import { learntElsewhere } from './skills/learnt-elsewhere.js'
import { openHomeWeb, webExtension } from './web/home-web.js'

/**
 * Opens a home. Broken configuration never stops it: see `problems`.
 * @throws HermesError `runtime.bad_home` when the folder is missing and cannot be made.
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const ground = layGround(options, await readHome(options))
  const answers = openModels(ground)
  const memories = openMemories(ground)
  const tasks = openTasks(ground, answers, memories)
  const permissions = openPermissions(ground, tasks)
  const parts = openParts(ground, tasks, { ...answers, permissions, personal: memories.personal })
  const work = openWork(ground, { ...answers, ...tasks, ...parts, memories, permissions })
  const home: Home = { ...answers, ...tasks, ...parts, ...work, memories, permissions }
  const problems: string[] = []
  const runtime = toRuntime(ground, home, problems)
  problems.push(...setUpExtensions(ground, home, runtime))
  return runtime
}

/** Who signs in there with a subscription. */
const XAI_LOGIN = 'xai-oauth'

/** What nothing else has to be open for. */
function layGround(options: RuntimeOptions, facts: HomeFacts) {
  const { home, userHome, cwd, tempDir, env, user } = options
  const { config, secrets, stored } = facts
  const redaction = new HomeRedaction({ config, secrets, stored })
  const logger = options.logger ? redactingLogger(options.logger, () => redaction.redactor()) : silentLogger
  const clock = options.clock ?? systemClock
  const network = openNetwork(config, facts.proxies)
  const store = new HomeStorage({ ...options, config, clock, logger })
  const extensions = createExtensionRegistry([], { logger, clock })
  const isolationSupport = createIsolationSupport({ remembered: join(homeLayout(home).cache, 'isolation') })
  const machine = {
    isolationSupport,
    workspaces: new Map() as Workspaces,
    logins: new Map() as SharedLogins,
    watcher: new SharedWatcher(),
    pipes: new SharedPipes(homeLayout(home).outputs),
  }
  /** Known once skills are open, which needs a policy, which asks for these. */
  const heldSkills: { programs: HomeSkills['programs'] } = { programs: async () => [] }
  const skills: HomeSkills['programs'] = (workspace, line) => heldSkills.programs(workspace, line, { isDecided: true })
  const secretNames = () => {
    const known = PROVIDERS.flatMap((provider) => provider.keyVariables)
    return [...known, ...redaction.keyVariables(), ...secrets.secretNames]
  }
  const environments = homeEnvironments((folder) => {
    const ownBackend = extensions.factory('backend', config.terminal.backend)
    const known = { secrets: secrets.values, secretNames: secretNames(), logger, clock, ownBackend }
    return { ...options, config, cwd: folder, skills, ...known, ...machine }
  }, cwd)
  return {
    ...{ options, facts, config, redaction, network, store, extensions, environments, isolationSupport, heldSkills },
    /** What most parts of a home are opened with. */
    common: {
      ...{ home, userHome, cwd, tempDir, env, user, config, clock, logger, isolationSupport },
      ...{ secrets: secrets.values, proxies: facts.proxies, fetchTo: network.fetchTo, storage: store.open },
      redact: (text: string) => redaction.redactor()(text),
      stagedNotes: new StagedNotes(homeLayout(home).pendingMemory),
    },
    sessions: new OpenSessions(),
    turnScopes: new TurnScopes(),
    people: readPeople(config),
    platforms: new HomePlatforms({ config, variables: secrets.values }),
    /** What is to be done when the home is closed. */
    closers: new Set<() => Promise<void>>(),
  }
}

type Ground = ReturnType<typeof layGround>

/** Who can answer, and how they are reached. */
function openModels({ common, facts, network, redaction, closers }: Ground) {
  const { stored } = facts
  const models = new HomeModels({ ...common, cacheDir: homeLayout(common.home).cache })
  closers.add(() => models.close())
  const credentials = openCredentials({ ...common, onSecret: redaction.conceal }, stored)
  const atClose = (close: () => Promise<void>) => void closers.add(close)
  const ways = { ...common, fetchTo: network.fetchToModel }
  const resolver = new ModelResolver({ ...ways, stored, credentials, models, atClose })
  redaction.alsoTakesOut(() => resolver.fallbacks().choices.map(({ apiKey }) => apiKey))
  return { models, credentials, resolver }
}

type Answers = ReturnType<typeof openModels>

/** What is remembered for each person. */
function openMemories({ common, config, extensions, redaction }: Ground) {
  const long = (settings: typeof config.memory, person?: { readonly name: string; readonly directory: string }) =>
    openHomeLongMemory({
      ...{ ...common, settings, person, onSecret: redaction.conceal },
      ownProvider: () => extensions.factory('memory', settings.provider),
    })
  const personal = new PersonalMemories({
    directory: homeLayout(common.home).memories,
    groupsSeeOwner: config.groups.memory === 'owner',
    openFiles: (directory) => openHomeMemory({ ...common, directory, settings: config.memory }),
    openLong: (person) => long(config.memory, person ?? undefined),
  })
  return { personal, long }
}

type Memories = ReturnType<typeof openMemories>

/** Work beside the conversations, by a model of the session or one that config.yaml names. */
function openTasks({ common, sessions, extensions }: Ground, { models, resolver }: Answers, { personal }: Memories) {
  const auxiliaryTasks = new AuxiliaryTasks({
    ...common,
    outside: extensions.outside,
    memory: (person) => personal.of(person).files,
    modelOptions: () => resolver.modelOptions(),
    fallbacks: () => resolver.fallbacks().choices,
    sees: (choice) => models.sees(choice),
    endpointOf: (choice) => resolver.endpointOf(choice),
    openChoice: (id) => sessions.choiceOf(id),
    choiceOf: (session) => resolver.chooseFirst(session ? { session } : {}),
    spending: () => resolver.spending(),
  })
  /** What is known of models is of whoever answers in a session, else of who would in a new one. */
  const choiceOf = (id: string): ModelChoice => sessions.choiceOf(id) ?? resolver.chooseFirst({})
  const pictures = {
    /** Whether who answers in a session sees images itself. */
    seesImages: async (id: string) => {
      const choice = sessions.choiceOf(id)
      return choice !== undefined && models.getsImages(choice)
    },
    /** Told by a model that sees, chosen as for any auxiliary task. */
    describeImage: (image: ImagePart, about: { about: string; sessionId: string; signal: AbortSignal }) =>
      auxiliaryTasks.describeImage(image, about),
  }
  return { auxiliaryTasks, choiceOf, pictures }
}

type Tasks = ReturnType<typeof openTasks>

function openPermissions(
  { common, options, facts, redaction, heldSkills }: Ground,
  { auxiliaryTasks }: Tasks,
): HomePolicy {
  const { home, env } = options
  const { rules, asksAlways, writeRoots } = facts
  return openHomePolicy({
    ...{ ...common, path: env['PATH'] ?? '', yolo: options.yolo ?? false, rules, writeRoots },
    currentRules: currentRules({ home, rules, asksAlways }),
    currentDenials: (known) => currentDenials({ home, env, known }),
    redactor: () => redaction.redactor(),
    skills: (workspace, line) => heldSkills.programs(workspace, line),
    // Chosen as for any auxiliary task: what config.yaml names, else the model of the session.
    reviewModel: async (sessionId) => auxiliaryTasks.client('approval', await auxiliaryTasks.mainOf(sessionId)),
  })
}

/** The services that agents and people use; each passes the policy. */
function openParts(
  { common, options, facts, config, network, redaction, extensions, closers, heldSkills }: Ground,
  { auxiliaryTasks, pictures }: Tasks,
  {
    permissions,
    personal,
    ...answers
  }: Answers & { readonly permissions: HomePolicy; readonly personal: PersonalMemories },
) {
  const { policy } = permissions
  const { credentials, resolver } = answers
  const { trust, plugins, secrets } = facts
  const checkpoints = openHomeCheckpoints({
    ...{ ...common, directory: homeLayout(common.home).checkpoints, settings: config.checkpoints },
    ...{ backend: config.terminal.backend, store: common.storage },
  })
  const hooks = openHomeHooks({
    ...{ ...common, trust, policy, isSafe: isSafe(options) },
    ...(options.acceptHooks === undefined ? {} : { acceptHooks: options.acceptHooks }),
    pluginHooks: () => plugins.plugins.hooks(),
    secretNames: () => [...secrets.secretNames, ...redaction.keyVariables()],
  })
  const brought = broughtServers(plugins.plugins.servers, secrets.values)
  const mcp = openHomeMcp({
    ...{ ...common, own: facts.ownConfig.own, brought: brought.servers, policy, conceal: redaction.conceal },
    modelOf: async (sessionId) => auxiliaryTasks.client('mcp', await auxiliaryTasks.mainOf(sessionId)),
  })
  plugins.serve({
    ...{ ...common, policy },
    fetchTo: network.fetchAsPlugin,
    agreeToHooks: (source) => agreeToHooks(hooks, common.cwd, source),
  })
  const browser = openHomeBrowser({ ...common, policy, pictures, conceal: redaction.conceal })
  const web = openHomeWeb({
    ...{ ...common, permissions, extensions: () => extensions, browser: () => browser },
    xaiLogin: {
      isThere: () => Object.hasOwn(facts.stored.providers, XAI_LOGIN),
      token: async (signal) => {
        if (!Object.hasOwn(facts.stored.providers, XAI_LOGIN)) return null
        const logins = await credentials.sourceFor(resolver.chooseModel({ provider: XAI_LOGIN }))
        return (await logins?.select({ signal }))?.secret ?? null
      },
    },
  })
  closers.add(() => web.close())
  const skills = openHomeSkills({
    ...{ ...common, trust, policy },
    isSafe: isSafe(options) || options.ignoreRules === true,
    takesCommands: options.takesCommands ?? true,
    ofPlugins: () => plugins.plugins.skills(),
    pluginPlaces: () => plugins.plugins.skillPlaces(),
    serverSkills: mcp.skills,
    learnt: learntElsewhere({ storage: common.storage, memory: () => personal.owner.files }),
    ask: (request, { sessionId, signal }) => auxiliaryTasks.ask(request, { sessionId, signal }),
    onChange: (change) => void extensions.outside.tell('skill-change', change),
  })
  heldSkills.programs = skills.programs
  auxiliaryTasks.learnWith((session) => skills.afterSession(session))
  return { checkpoints, hooks, mcp, brought, web, browser, skills, trust, plugins: plugins.plugins }
}

type Parts = ReturnType<typeof openParts>

/** The tools, and the agents that use them. */
function openWork(
  ground: Ground,
  of: Answers & Tasks & Parts & { readonly memories: Memories; readonly permissions: HomePolicy },
) {
  const { common, options, facts, network, redaction, extensions, environments } = ground
  const { sessions, turnScopes, closers, platforms } = ground
  const { models, resolver, pictures, checkpoints, web, skills, auxiliaryTasks, memories, permissions, mcp, trust } = of
  const memoryOf = (person: string | null) => memories.personal.of(person)
  const codeIn = (cwd: string, person: string | null) => openHomeCode({ ...environments.requestIn(cwd), person })
  const tools = new HomeTools({
    ...{ ...common, ...pictures, checkpoints, memoryOf, web, codeIn, trust, fetchBytes: network.fetchBytes },
    extensionTools: extensions.tools,
    messaging: () => homeMessaging({ ...common, people: ground.people, platforms: platforms.reached() }),
    ownPlatform: (name) => platforms.of(name),
    sudo: { password: facts.secrets.values['SUDO_PASSWORD'] || null, conceal: redaction.conceal },
    mixture: async (sessionId) => {
      const account = sessions.choiceOf(sessionId)?.account
      return turnScopes.forTools(await resolver.mixtureClient({}, account))
    },
    keepResult: keepResultsIn({
      directoryOf: (id) => cacheOf(common.home, sessions.personOf(id) ?? null).results,
      redact: () => redaction.redactor(),
      clock: common.clock,
    }),
  })
  const agents = new HomeAgents({
    ...{ ...common, checkpoints, memoryOf, skills, codeIn, policy: permissions.policy, trust, models },
    ...{ modelResolver: resolver, auxiliaryTasks, tools, turnScopes, sessions, extensions, closers },
    hintOf: (platform) => platforms.hintOf(platform),
    serversOf: mcp.forSession,
    environmentIn: environments.open,
    redact: (more) => redaction.redactor(more),
  })
  const prompt: Runtime['prompt'] = async ({ cwd = options.cwd, platform, instructions, ...request }) => {
    const environment = await environments.open(cwd)
    try {
      const model = modelName(resolver, request)
      const shown = await tools.registry().definitions(tools.selection({ ...request, ...(platform && { platform }) }))
      const hasSkills = shown.some(({ name }) => name === SKILL_TOOL)
      const about = { environment, cwd, model, platform, instructions, hasSkills }
      return { system: await agents.systemPrompt(about), tools: shown }
    } finally {
      await environment.close()
    }
  }
  return { tools, agents, prompt, longMemoryOf: longMemoryOf({ sessions, memories }) }
}

type Work = ReturnType<typeof openWork>

/** A model that is not set up has the name it was asked for by. */
function modelName(resolver: ModelResolver, request: { readonly model?: string; readonly provider?: string }): string {
  try {
    return resolver.chooseModel(request).model
  } catch {
    return request.model ?? ''
  }
}

/** Of the person that an open session serves; of nobody for any other session. */
function longMemoryOf({ sessions, memories }: Pick<Ground, 'sessions'> & { readonly memories: Memories }) {
  if (memories.personal.owner.long === null) return null
  return (sessionId: string): HomeLongMemory | null => {
    const person = sessions.personOf(sessionId)
    return person === undefined ? null : memories.personal.of(person).long
  }
}

type Home = Answers & Tasks & Parts & Work & { readonly memories: Memories; readonly permissions: HomePolicy }

/** Sets up what comes with Hermes, what the home has and what plugins bring; gives back what is wrong with the home. */
function setUpExtensions(ground: Ground, home: Home, runtime: Runtime): readonly string[] {
  const { options, facts, config, redaction, extensions, people, platforms } = ground
  const builtIn = builtInOf(ground, home, runtime)
  const parts = options.extensions?.(builtIn) ?? builtIn
  for (const extension of [...parts, ...facts.ownExtensions.extensions, ...home.plugins.extensions])
    extensions.add(extension)
  const providers = extensionProviders(extensions)
  home.resolver.offer(providers.endpoints)
  const ofPlatforms = platforms.offer(extensions, facts.ownConfig.own)
  redaction.offer([
    ...Object.values(providers.endpoints).flatMap(({ keyEnvs = [] }) => keyEnvs),
    ...platforms.secretVariables(),
  ])
  const ofConfig = readConfigSections(extensions, facts.ownConfig)
  const ofEngine = extensions.factory('context-engine', config.context.engine) ? [] : facts.engineProblems
  return [
    ...[...ofConfig, ...facts.problems, ...ofEngine, ...facts.ownExtensions.problems],
    ...[
      ...home.plugins.problems,
      ...home.brought.problems,
      ...extensions.problems,
      ...providers.problems,
      ...ofPlatforms,
      ...people.problems,
    ],
  ]
}

function builtInOf({ common, options, platforms }: Ground, home: Home, runtime: Runtime) {
  const { models, resolver, auxiliaryTasks, choiceOf, pictures, permissions, tools, agents, memories } = home
  return builtInExtensions({
    ...{ ...common, ...home, opened: options, runtime: () => runtime },
    web: webExtension(home.web, { policy: permissions.policy, user: common.user }),
    platforms,
    remembers: memories.personal.owner.files !== null,
    memoryOf: (person) => memories.personal.of(person).files,
    tools: () => tools.list(),
    toolsets: () => tools.toolsets(),
    seesImages: ({ session }) => pictures.seesImages(session.id),
    takes: ({ session }, part) => models.takes(choiceOf(session.id), part),
    flushUsage: () => resolver.flush(),
    askJudge: (request, { sessionId, signal }) =>
      auxiliaryTasks.ask({ task: 'goal_judge', ...request }, { sessionId, signal }),
    describeImage: (image, { about, event: { session, signal } }) =>
      pictures.describeImage(image, { about, sessionId: session.id, signal }),
    windowTokens: ({ session }) => models.window(choiceOf(session.id)),
    delegated: (event) => agents.delegated(event),
  })
}

function toRuntime(ground: Ground, home: Home, problems: readonly string[]): Runtime {
  const { common, config, store, sessions, extensions, environments, people, network, platforms } = ground
  const { models, credentials, resolver, auxiliaryTasks, memories, permissions, tools, agents } = home
  const { clock, logger, redact, proxies } = common
  const { policy } = permissions
  return {
    ...{ config, problems, policy, extensions, permissions, people, models, trust: home.trust, hooks: home.hooks },
    ...{ checkpoints: home.checkpoints, skills: home.skills, vault: home.browser.vault },
    ...{ memory: memories.personal.owner.files, longMemory: memories.personal.owner.long },
    ...{ rescueDirs: store.rescueDirs, storage: store.open, fetchTo: network.fetchTo, redact, prompt: home.prompt },
    get chatPlatforms() {
      return platforms.own
    },
    backups: () => store.backups(),
    runJobs: (signal) =>
      runJobs({ registry: extensions, jobs: async () => (await store.open()).jobs, clock, logger }, signal),
    // One with a name is always there.
    memoryProvider: (settings) => memories.long({ ...config.memory, ...settings })!,
    fetchForPerson: async (url, request) => {
      const { fetchForPerson } = await import('./web/fetch-for-person.js')
      return fetchForPerson(url, request, { config, proxies, policy })
    },
    credentialsFor: (choice) => credentials.sourceFor(choice),
    chooseModel: (requested) => resolver.chooseModel(requested),
    chooseMixture: (preset) => resolver.chooseMixture(preset),
    mixture: (request) => resolver.mixtureClient(request),
    fallbacks: () => resolver.fallbacks(),
    createAgent: (request) => {
      home.plugins.warmUp({ memory: config.memory.provider })
      return agents.create(request)
    },
    spent: async (sessionId) => {
      await resolver.flush()
      const [total] = await (await store.open()).usage.totals({ sessionId })
      return total!
    },
    sessionJobs: auxiliaryTasks.sessionJobs,
    doSessionJob: (kind, id) => auxiliaryTasks.doSessionJob(kind, id, sessions.choiceOf(id)),
    terminalBackends: environments.terminalBackends,
    isolatedTo: environments.isolatedTo,
    tools: () => tools.list(),
    toolsets: () => tools.toolsets(),
    close: (reason = 'closed') => close(ground, home, reason),
  }
}

async function close({ common, facts, store, extensions, closers }: Ground, home: Home, reason: string): Promise<void> {
  const { logger } = common
  await home.agents.closeChildren()
  await home.agents.endSessions(reason)
  await home.permissions.flush()
  const opened = await store.opened()
  const closing = [...closers]
  closers.clear()
  await Promise.all([home.auxiliaryTasks.close(), home.memories.personal.close()])
  await home.resolver.flush()
  await opened?.swept
  // A run that is ended still writes down what became of its calls.
  const closed = await Promise.allSettled(closing.map((one) => one()))
  await extensions.close()
  facts.ownExtensions.close()
  const results = [...closed, ...(await Promise.allSettled([opened?.storage.close()]))]
  await opened?.dailyBackup?.finish()
  for (const result of results) {
    if (result.status === 'rejected') logger.warn('Closing did not go cleanly.', { error: errorLine(result.reason) })
  }
  await logger.flush?.()
}
