import {
  type Agent,
  type Child,
  type ChildContext,
  type ChildTask,
  ChildTree,
  childInstructions,
  createAgent,
  createSessionId,
  type Delegation,
  type ExtensionRegistry,
  hooksWithout,
  type PlatformHint,
  type SystemPrompt,
  startTask,
} from '@hermes/agent-core'
import type { HomeCheckpoints } from '@hermes/checkpoints/extension'
import { type HermesConfig, homeLayout } from '@hermes/config'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import { accountIn, latestPrompt, type Sampling } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { HookEvent } from '@hermes/contracts/extension'
import type { FolderTrust, Policy } from '@hermes/contracts/policy'
import type { HomeMcp } from '@hermes/mcp'
import type { ResilientModelClient } from '@hermes/models'
import { resolveToolsets, type ToolRegistry, type ToolsetSelection } from '@hermes/registry'
import type { HomeSkills } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import { listFiles } from '@hermes/tools'
import { listModels } from '@hermes/transports'
import { openContextEngine } from '../context/context-engine.js'
import { openSystemPrompt } from '../context/system-prompt.js'
import { DEFAULT_PLATFORM } from '../home/settings.js'
import type { HomeMemory } from '../memory/home-memory.js'
import type { AuxiliaryTasks } from '../models/auxiliary-task-clients.js'
import { type HomeModels, isLocalServer } from '../models/home-models.js'
import { largerWindow } from '../models/larger-window.js'
import { refuseUnlisted } from '../models/listed-models.js'
import { MIXTURE } from '../models/mixtures.js'
import { isSamePool, type ModelChoice, resolvedFolder, type SessionAccount } from '../models/model-choice.js'
import { isRecorded, type ModelResolver, type ResolvedModel } from '../models/model-resolver.js'
import { namesOf } from '../models/named-endpoints.js'
import { cacheOf } from '../people/people.js'
import type { TurnScopes } from '../policy/turn-scopes.js'
import type { AgentRequest, ReadyAgent, RuntimeOptions } from '../runtime.js'
import { childRequest, inherited, namesModel } from './child-request.js'
import type { HomeCode } from './home-code.js'
import type { HomeTools } from './home-tools.js'
import {
  childLineage,
  delegationLimits,
  isToolset,
  type Lineage,
  mayDelegate,
  originOf,
  ROOT,
  shortenedNames,
  subjectOf,
} from './lineage.js'
import type { OpenSessions } from './open-sessions.js'
import { runOwnCommand } from './own-command.js'

const CLOSE_CHILDREN_WITHIN_MS = 5_000
const LIST_TIMEOUT_MS = 10_000
/** Without it nothing is said of skills. */
export const SKILL_TOOL = 'skill_view'

/** What agents of a home are made with. */
interface HomeAgentsOptions extends Pick<RuntimeOptions, 'home' | 'userHome' | 'cwd' | 'user'> {
  readonly config: HermesConfig
  readonly policy: Policy
  readonly trust: FolderTrust
  readonly skills: Pick<HomeSkills, 'section'>
  readonly checkpoints: HomeCheckpoints
  readonly memoryOf: (person: string | null) => { readonly files: HomeMemory | null }
  readonly models: HomeModels
  readonly modelResolver: ModelResolver
  readonly auxiliaryTasks: AuxiliaryTasks
  readonly turnScopes: TurnScopes
  /** Gets those that are opened. */
  readonly sessions: OpenSessions
  readonly tools: HomeTools
  readonly storage: () => Promise<Storage>
  /** `session`: whose containers are shared where they are not kept. */
  readonly environmentIn: (
    cwd: string,
    of: { readonly task: string; readonly person: string | null },
  ) => Promise<Environment>
  readonly codeIn: (cwd: string, person: string | null) => HomeCode
  readonly extensions: ExtensionRegistry
  /** How to speak on a platform. */
  readonly hintOf: (platform: string) => PlatformHint
  readonly serversOf: HomeMcp['forSession']
  /** Takes out the secrets of the home and `more` of them. */
  readonly redact: (more: readonly (string | null)[]) => (text: string) => string
  /** What is to be done when the home is closed. */
  readonly closers: Set<() => Promise<void>>
  readonly clock: Clock
  readonly logger: Logger
}

/** An agent with what it works with. A change of its model puts another agent and another model into the same record. */
interface AgentRecord {
  request: AgentRequest
  readonly lineage: Lineage
  readonly cwd: string
  readonly sessionId: string
  /** Whom the session serves; `null` for the owner of the home. */
  readonly person: string | null
  readonly tree: ChildTree
  /** Whose keys it uses: those of the session that the person talks to. */
  readonly account: SessionAccount
  /** `null` for one that may not delegate. */
  readonly delegation: (Delegation & { readonly tree: ChildTree }) | null
  readonly environment: Environment
  readonly registry: ToolRegistry
  readonly toolsets: ToolsetSelection
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
  /** Who answers, as it was found; children get it too. */
  resolved: ResolvedModel
  /** The same with the calls counted for this agent. */
  model: ResilientModelClient
  agent: Agent
}

/** What is settled about an agent before anything is opened for it. */
type AgentContext = Pick<AgentRecord, 'request' | 'lineage' | 'cwd' | 'sessionId' | 'person' | 'tree' | 'account'>
type AgentModel = Pick<AgentRecord, 'resolved' | 'model'>

/** How config.yaml wants the answers of a model made. */
function configuredSampling(config: HermesConfig, id: string): Sampling {
  const { agent, model } = config
  return samplingOf({
    reasoningEffort: agent.reasoning_overrides[id] ?? agent.reasoning_effort,
    temperature: agent.temperature_overrides[id] ?? model.temperature,
    maxOutputTokens: model.max_tokens,
    serviceTier: agent.service_tier,
  })
}

/** How config.yaml wants the answers of delegated tasks made. */
function delegatedSampling({ delegation }: HermesConfig): Sampling {
  const { reasoning_effort: reasoningEffort, temperature, max_tokens: maxOutputTokens } = delegation
  return samplingOf({ reasoningEffort, temperature, maxOutputTokens, serviceTier: undefined })
}

/** Without what nothing is known of. */
function samplingOf(of: { readonly [Name in keyof Required<Sampling>]: Sampling[Name] | undefined }): Sampling {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined))
}

/** Has a session use one key or login of its provider alone. */
async function useAccount(
  { resolved: { credentials, choice }, model, agent }: Pick<AgentRecord, 'resolved' | 'model' | 'agent'>,
  name: string | null,
): Promise<string | null> {
  if (model.provider === MIXTURE)
    throw new HermesError(
      `A mixture asks several providers. Choose while one of their models answers (/model NAME, /account NAME, then /moa), or for the project: hermes auth use PROVIDER NAME --project`,
      { code: 'command.usage' },
    )
  if (credentials === null && name !== null)
    throw new HermesError(
      `${choice.provider} had no key when this session was opened. Add some (hermes auth add ${choice.provider}), then open it again: /model ${choice.model} does that too.`,
      { code: 'credentials.unknown' },
    )
  const chosen = name === null ? null : (await credentials!.find(name)).label
  await agent.setAccount(chosen)
  return chosen
}

function isAt(choice: ModelChoice, { provider, model }: Pick<ModelChoice, 'provider' | 'model'>): boolean {
  return choice.provider === provider && choice.model === model
}

/** Makes the agents of a home, and those that they hand tasks to. */
export class HomeAgents {
  readonly #options: HomeAgentsOptions
  /** Of the agents a person talks to. */
  readonly #trees = new Set<ChildTree>()
  /** The newest of each session, which may be opened anew before its former agent is closed. */
  readonly #treeOf = new Map<string, ChildTree>()

  constructor(options: HomeAgentsOptions) {
    this.#options = options
  }

  create(request: AgentRequest): Promise<ReadyAgent> {
    return this.#make(request, ROOT, {})
  }

  /** What a session has delegated and has not ended, a few words each. */
  delegated({ session, agentPath }: Pick<HookEvent, 'session' | 'agentPath'>): readonly string[] {
    const tree = this.#treeOf.get(session.id)
    return tree?.unfinished(agentPath).map(({ id, task }) => `${id} ${task.goal}`) ?? []
  }

  /** The system text of a new session. */
  systemPrompt(of: {
    readonly environment: Environment
    readonly cwd: string
    readonly model: string
    readonly instructions: string | undefined
    readonly platform: string | undefined
    /** Whether it can load skills. */
    readonly hasSkills: boolean
    readonly person?: string | null
    readonly lineage?: Lineage
  }): Promise<SystemPrompt> {
    const { home, memoryOf, skills, config, extensions, hintOf, clock } = this.#options
    const { lineage = ROOT, platform = DEFAULT_PLATFORM, person = null, hasSkills, ...facts } = of
    const common = { ...facts, config, extensions, hintOf, clock }
    if (lineage.depth > 0)
      return openSystemPrompt({ ...common, soul: childInstructions(lineage.role), platform: null, memory: null })
    return openSystemPrompt({
      ...common,
      soul: { path: homeLayout(home).soul },
      platform,
      memory: memoryOf(person).files,
      ...(hasSkills ? { skills } : {}),
    })
  }

  /** Ends the sessions that are open, whoever talks in them. */
  async endSessions(reason: string): Promise<void> {
    await Promise.all(this.#options.sessions.ids().map((sessionId) => this.#endSession(sessionId, reason)))
  }

  /** What cannot be noted now is seen by the next process that opens the home. */
  async #endSession(sessionId: string, reason: string): Promise<void> {
    try {
      await (await this.#options.storage()).sessions.end(sessionId, { reason })
    } catch (error) {
      this.#options.logger.warn('The end of a session could not be noted.', { sessionId, error: errorLine(error) })
    }
  }

  /** Ends delegated tasks that nobody waits for. */
  async closeChildren(): Promise<void> {
    await Promise.all([...this.#trees].map((tree) => this.#closeTree(tree)))
  }

  /** What a child has of its parent: the model, unless it has its own, and the account. */
  async #make(
    request: AgentRequest,
    lineage: Lineage,
    { resolved = null, account }: { readonly resolved?: ResolvedModel | null; readonly account?: SessionAccount },
  ): Promise<ReadyAgent> {
    let record: AgentRecord | null = null
    const folder = account ? null : await resolvedFolder(request.cwd ?? this.#options.cwd)
    const own = { at: (provider: string) => this.#accountAt(record, provider), folder }
    const context = { ...this.#context(request, lineage), account: account ?? own }
    const resources = await this.#equip(context, () => record)
    try {
      const known = { ...context, ...resources, ...(await this.#resolveModel(context, resources, resolved)) }
      record = { ...known, agent: await this.#openAgent(known) }
    } catch (error) {
      if (!lineage.tree) this.#forgetTree(context)
      await resources.close()
      throw error
    }
    this.#options.sessions.set(context.sessionId, { choice: record.resolved.choice, person: context.person })
    this.#options.closers.add(resources.close)
    return this.#ready(record)
  }

  /** The account that a session chose; a stored one whose agent has not read its log yet is looked up. */
  async #accountAt(record: AgentRecord | null, provider: string): Promise<string | null> {
    if (record === null) return null
    const isRead = record.request.session === undefined || record.agent.entries().length > 0
    if (isRead) return record.agent.accountAt(isSamePool(provider))
    const { log } = await this.#options.storage()
    return accountIn(await log.entries(record.sessionId), isSamePool(provider))
  }

  /** The new agent takes over what the session works with, its shell and what runs in it included. */
  async #changeModel(
    record: AgentRecord,
    { force = false, ...requested }: Parameters<ReadyAgent['changeModel']>[0],
  ): Promise<ReadyAgent> {
    const session = await (await this.#options.storage()).sessions.get(record.sessionId)
    const { session: _former, ...rest } = record.request
    const request = { ...rest, ...(session ? { session } : {}), ...requested }
    const known = await this.#resolveModel({ ...record, request }, record, null)
    // That there is such a mixture is known already; what it is resolved to is the model that answers in it.
    if (!force && known.model.provider !== MIXTURE) refuseUnlisted(known.resolved.choice, await this.#modelsOf(known))
    const agent = await this.#openAgent({ ...record, request, ...known })
    const former = record.agent
    agent.takeOver(former)
    Object.assign(record, { request, ...known, agent })
    this.#options.sessions.set(record.sessionId, { choice: known.resolved.choice, person: record.person })
    await former.close()
    return this.#ready(record)
  }

  async #modelsOf({ resolved: { choice, credentials, fetch }, model }: AgentModel): Promise<readonly string[]> {
    if (model.provider === MIXTURE) return Object.keys(this.#options.config.moa.presets)
    const apiKey = credentials ? ((await credentials.select())?.secret ?? null) : choice.apiKey
    const signal = AbortSignal.timeout(LIST_TIMEOUT_MS)
    const listed = await listModels({ ...choice, apiKey, fetch, signal }).catch(() => [])
    // Not every server lists what it has.
    return [...new Set([...listed, ...namesOf(this.#options.config.providers[choice.provider]?.models)])]
  }

  #context(request: AgentRequest, lineage: Lineage): Omit<AgentContext, 'account'> {
    const { clock, logger, cwd } = this.#options
    const sessionId = request.session?.id ?? request.sessionId ?? createSessionId(clock.now())
    const tree = lineage.tree ?? new ChildTree({ clock, logger })
    if (!lineage.tree) {
      this.#trees.add(tree)
      this.#treeOf.set(sessionId, tree)
    }
    const person = request.session ? request.session.person : (request.person ?? null)
    return { request, lineage, cwd: request.cwd ?? cwd, sessionId, person, tree }
  }

  async #equip(
    { request, lineage, cwd, tree, sessionId, person }: AgentContext,
    made: () => AgentRecord | null,
  ): Promise<Pick<AgentRecord, 'delegation' | 'environment' | 'registry' | 'toolsets' | 'problems' | 'close'>> {
    const createChild = (task: ChildTask, at: ChildContext) => this.#makeChild(made()!, task, at)
    const { config, tools } = this.#options
    const checkpoints = this.#options.checkpoints.forAgent(cwd, sessionId)
    const code = this.#options.codeIn(cwd, person)
    const limits = delegationLimits(config)
    const { depth, agentPath, tools: allowed } = lineage
    const delegation = mayDelegate(lineage, limits)
      ? { limits, depth, agentPath, tree, createChild, hooks: this.#options.extensions.hooks }
      : null
    const registry = tools.registry({ person, checkpoints, code, delegation, allowed })
    const toolsets = tools.selection(request)
    // Names that no toolset has are told before anything is opened.
    resolveToolsets(registry.toolsets(), toolsets)
    const environment = await this.#options.environmentIn(cwd, { task: lineage.rootSessionId ?? sessionId, person })
    const own = request.mcpServers && depth === 0 ? this.#options.serversOf(sessionId, request.mcpServers) : null
    const guests = depth === 0 ? (request.toolSources ?? []) : []
    for (const source of [...(own?.sources ?? []), ...guests]) registry.addSource(source)
    const close = async () => {
      await made()?.agent.close()
      await Promise.all([environment.close(), checkpoints.close(), code.close(), own?.close()])
    }
    return { delegation, environment, registry, toolsets, problems: own?.problems ?? [], close }
  }

  async #resolveModel(
    { request, lineage, sessionId, account }: AgentContext,
    { environment }: Pick<AgentRecord, 'environment'>,
    input: ResolvedModel | null,
  ): Promise<AgentModel> {
    const resolved = input ?? (await this.#options.modelResolver.resolveModel(request, environment, account))
    const { rootSessionId } = lineage
    return { resolved, model: this.#options.turnScopes.scoped(resolved.model, { sessionId, rootSessionId }) }
  }

  async #openAgent(known: Omit<AgentRecord, 'agent'>): Promise<Agent> {
    const { config, policy, trust, redact, extensions, clock, logger } = this.#options
    const { request, lineage, cwd, sessionId, person, tree, environment, resolved, model } = known
    const { platform = DEFAULT_PLATFORM, user = this.#options.user } = request
    const { instructions, maxSteps = config.agent.max_turns, ask, notices, deliverTo } = request
    const { choice } = resolved
    const { agent: own, delegation } = config
    const maxSeconds =
      request.maxSeconds ?? (lineage.depth === 0 ? own.run_budget_seconds : delegation.child_timeout_seconds)
    const storage = await this.#options.storage()
    const who = { model: model.model, provider: model.provider, baseUrl: choice.baseUrl }
    const shown = person === null ? {} : { homePlaces: [cacheOf(this.#options.home, person).folder] }
    const contextEngine = this.#contextEngine(known)
    const agent = createAgent({
      model,
      steps: {
        max: maxSteps,
        ...(maxSeconds === undefined ? {} : { maxSeconds }),
        ...configuredSampling(config, model.model),
        ...request.sampling,
      },
      tools: known,
      session: {
        store: storage,
        id: sessionId,
        cwd,
        person,
        ...who,
        ...originOf(lineage, platform),
        ...(request.title === undefined ? {} : { title: request.title }),
        ...(lineage.depth === 0 ? { children: tree } : {}),
        ...(lineage.depth === 0 && deliverTo ? { deliverTo } : {}),
        ...(notices === undefined ? {} : { notices }),
      },
      environment,
      extensions: { hooks: hooksWithout(extensions.hooks, request.references === false ? ['references'] : []) },
      safety: {
        ...{ policy, trust, redact: redact([choice.apiKey]) },
        subject: { platform, user, ...shown, ...subjectOf(lineage) },
      },
      system: () =>
        this.systemPrompt({
          ...{ environment, cwd, model: choice.model, platform, person, instructions, lineage },
          hasSkills: resolveToolsets(known.registry.toolsets(), known.toolsets).includes(SKILL_TOOL),
        }),
      ...(contextEngine ? { contextEngine } : {}),
      logger,
      clock,
      ...(ask ? { ask } : {}),
    })
    if (request.session) await storage.sessions.update(request.session.id, who)
    return agent
  }

  #contextEngine({
    lineage,
    sessionId,
    resolved,
    model,
  }: Pick<AgentRecord, 'lineage' | 'sessionId' | 'resolved' | 'model'>): ContextEngine | null {
    const { choice, fallbacks } = resolved
    const { config, home, userHome, auxiliaryTasks, models, turnScopes, extensions, clock, logger } = this.#options
    const { engine } = config.context
    const named = auxiliaryTasks.named('compression', choice)
    // Asked before the first request, which then need not wait for all of the answer.
    if (isLocalServer(choice)) void models.window(choice)
    return openContextEngine({
      settings: config.compression,
      summaries: config.auxiliary['compression'],
      model: choice,
      own:
        engine === 'compressor'
          ? null
          : { engine, home, userHome, create: extensions.factory('context-engine', engine) },
      ...(isLocalServer(choice) ? { mayBeTiny: true, largerWindow: largerWindow(choice) } : {}),
      windowOf: (endpoint) => models.window(fallbacks.find((one) => isAt(one, endpoint)) ?? choice),
      models: [...(named ? [named] : []), auxiliaryTasks.watched('compression', model)],
      scopeOf: (cause) => turnScopes.scopeOf(sessionId, cause !== 'asked'),
      ...(lineage.depth === 0
        ? {
            // Nobody waits for it: the log keeps what is compacted.
            beforeCompaction: (entries) =>
              void auxiliaryTasks.keepWhatLasts(sessionId, entries, () => auxiliaryTasks.client('compression', choice)),
          }
        : {}),
      clock,
      logger,
    })
  }

  #ready(record: AgentRecord): ReadyAgent {
    const { lineage, cwd, tree, environment, problems, agent, resolved, model } = record
    const { auxiliaryTasks } = this.#options
    const { choice } = resolved
    return {
      agent,
      model: model.model,
      provider: model.provider,
      cwd,
      models: () => this.#modelsOf({ resolved, model }),
      changeModel: (requested) => this.#changeModel(record, requested),
      useAccount: (name) => useAccount(record, name),
      account: () => this.#accountAt(record, model.provider),
      runOwnCommand: (command, options) => {
        const { platform = DEFAULT_PLATFORM, user = this.#options.user } = record.request
        const subject = { sessionId: record.sessionId, platform, user }
        return runOwnCommand({ policy: this.#options.policy, environment, subject }, command, options)
      },
      files: (signal) => listFiles(environment, cwd, signal),
      limits: () => model.limits(),
      auxiliaryTask: (task) => auxiliaryTasks.client(task, choice),
      problems,
      startTask: (goal) => startTask(agent, goal, { delegation: record.delegation, clock: this.#options.clock }),
      children: tree,
      hasProcesses: () =>
        tree.unfinished(lineage.agentPath).length > 0 ||
        environment.processes().some((process) => process.info().endedAtMs === null),
      processes: () => environment.processes(),
      contextWindow: () => this.#options.models.knownWindow(choice) ?? null,
      // One that another agent took over from has nothing left to close.
      close: async (reason) => {
        if (record.agent === agent) await this.#close(record, reason)
      },
    }
  }

  async #close(record: AgentRecord, reason = 'closed'): Promise<void> {
    const { lineage, sessionId, tree, resolved, close } = record
    const isRoot = lineage.depth === 0
    if (isRoot) {
      this.#forgetTree(record)
      await this.#closeTree(tree)
    }
    this.#options.closers.delete(close)
    // A session may have been opened anew before its former agent is closed.
    if (this.#options.sessions.choiceOf(sessionId) === resolved.choice) {
      this.#options.turnScopes.forget(sessionId)
      this.#options.sessions.delete(sessionId)
      if (isRoot) await this.#endSession(sessionId, reason)
    }
    await close()
  }

  #forgetTree({ tree, sessionId }: Pick<AgentContext, 'tree' | 'sessionId'>): void {
    this.#trees.delete(tree)
    if (this.#treeOf.get(sessionId) === tree) this.#treeOf.delete(sessionId)
  }

  /** What nobody waits for still leaves its result, for the next time. */
  async #closeTree(tree: ChildTree): Promise<void> {
    this.#trees.delete(tree)
    await tree.close(CLOSE_CHILDREN_WITHIN_MS)
  }

  async #makeChild(
    parent: AgentRecord,
    task: ChildTask,
    { agentPath, cwd }: ChildContext,
  ): Promise<ReadyAgent & Child> {
    const { registry, toolsets, environment, tree, sessionId } = parent
    const shown = latestPrompt(parent.agent.entries())?.tools ?? (await registry.definitions(toolsets))
    const lineage = childLineage(parent.lineage, {
      task,
      agentPath,
      tree,
      parentSessionId: sessionId,
      // A session keeps the tools it began with, whatever toolsets it is gone on with.
      parentTools: [
        ...registry.callable(
          shown.map(({ name }) => name),
          toolsets,
        ),
      ],
      toolsets: registry.toolsets(),
    })
    const { clock, userHome } = this.#options
    const start = { task, cwd: cwd ?? environment.cwd(), userHome, atMs: clock.now() }
    const { platform = DEFAULT_PLATFORM, user = this.#options.user } = parent.request
    const own = inherited(await childRequest(this.#options.config, start), parent.resolved.choice)
    const sampling = { ...parent.agent.sampling(), ...delegatedSampling(this.#options.config) }
    const request = { ...own, sampling, platform, user, person: parent.person }
    const ownModel = namesModel(request) && !isRecorded(parent.request)
    const { account, resolved } = parent
    const child = await this.#make(request, lineage, { account, resolved: ownModel ? null : resolved })
    const unknown = (task.toolsets ?? []).filter((name) => !isToolset(registry.toolsets(), name))
    const note = unknown.length === 0 ? {} : { note: shortenedNames(unknown) }
    return { ...child, ...note, close: () => this.#endChild(child) }
  }

  /** Nobody goes on with the session of a delegated task. */
  async #endChild({ agent, close }: ReadyAgent): Promise<void> {
    await close()
    const end = { endedAtMs: this.#options.clock.now(), endReason: 'task_end' }
    // One that never ran has no session.
    await (await this.#options.storage()).sessions.update(agent.sessionId, end).catch(() => undefined)
  }
}
