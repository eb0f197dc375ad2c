import type { Agent, AgentOptions, Children, ExtensionRegistry, SystemPrompt } from '@hermes/agent-core'
import type { Vault } from '@hermes/browser'
import type { HomeCheckpoints } from '@hermes/checkpoints/extension'
import type { HermesConfig, TrustStore } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import type { Sampling } from '@hermes/contracts/conversation'
import type { BackgroundProcess, ExecResult } from '@hermes/contracts/environment'
import type { Extension } from '@hermes/contracts/extension'
import type { CredentialSource, ModelClient } from '@hermes/contracts/model'
import type { Policy } from '@hermes/contracts/policy'
import type { SessionInfo, UsageTotal } from '@hermes/contracts/store'
import type { ToolDefinition, ToolSource } from '@hermes/contracts/tool'
import type { HomeHooks } from '@hermes/hooks'
import type { KeyLimits } from '@hermes/models'
import type { ReferenceOutcome } from '@hermes/models/mixture'
import type { HomeSkills } from '@hermes/skills'
import type { Backups, Storage } from '@hermes/storage'
import type { OwnCommandOptions } from './agents/own-command.js'
import type { OwnPlatform } from './chats/own-platform.js'
import type { BackendStatus } from './environment/terminal-backends.js'
import type { HomeLongMemory } from './memory/home-long-memory.js'
import type { HomeMemory } from './memory/home-memory.js'
import type { Fallbacks } from './models/fallbacks.js'
import type { HomeModels } from './models/home-models.js'
import type { MixtureChoice } from './models/mixtures.js'
import type { ModelChoice } from './models/model-choice.js'
import type { People } from './people/people.js'
import type { HomePolicy } from './policy/home-policy.js'
import type { PersonFetch } from './web/fetch-for-person.js'

/** The world a runtime lives in; nothing else is read from the process. */
export interface RuntimeOptions {
  /** The Hermes home; made on first write. */
  readonly home: string
  readonly userHome: string
  /** The whole environment: keys are looked up in it, and commands get it without them. */
  readonly env: Readonly<Record<string, string>>
  /** Where agents work. Absolute. */
  readonly cwd: string
  /** The person at this machine, to whom the home belongs. */
  readonly user: string
  readonly tempDir: string
  /** Dangerous commands run without asking; the hard floor stays. Default `false`. */
  readonly yolo?: boolean
  /** Trusts the project of `cwd` with what it brings, as long as the runtime lives. Default `false`: as the person has answered before. */
  readonly trust?: boolean
  /** Hooks run without the person's consent. Default `false`. */
  readonly acceptHooks?: boolean
  /** Without extensions, hooks, MCP servers, a context engine of one's own, and all that `ignoreRules` leaves out. Default: `HERMES_SAFE_MODE` is `1`. */
  readonly safe?: boolean
  /** Without instructions of projects, `SOUL.md` and what is remembered. Default: `HERMES_IGNORE_RULES` is `1`. */
  readonly ignoreRules?: boolean
  /** Whether somebody may type commands: what hundreds of skills are called is not registered for nobody. Default `true`. */
  readonly takesCommands?: boolean
  /** US dollars that one turn may cost, where config.yaml does not say less. Greater than 0. Default: as config.yaml says. */
  readonly maxCostUsd?: number
  readonly logger?: Logger
  readonly clock?: Clock
  /** The parts of the home, given those that come with Hermes: add to them, or leave some out. Default: those. */
  readonly extensions?: (builtIn: readonly Extension[]) => readonly Extension[]
  /** Told once, in a line, of what a person should know of the store: that it was found damaged, or that only one process can use it. */
  readonly onNotice?: (line: string) => void
}

/** What one agent is asked to be. */
export interface AgentRequest {
  /** Continues this session. Default: a new one. */
  readonly session?: SessionInfo
  /** Id of a new session. Default: made from the time. */
  readonly sessionId?: string
  /** Where the agent works. Absolute. Default: that of the runtime. */
  readonly cwd?: string
  /**
   * Where the session speaks now: `cli`, `oneshot`, `acp`, `gateway` … Toolsets, hints and rules go by it; the definitions of a stored
   * session stay, and what this platform lacks is refused when it is called. Default `cli`.
   */
  readonly platform?: string
  /** Who speaks, as rules and the audit trail name them. Default: the person at this machine. */
  readonly user?: string
  /** Whose a new session is; a stored one stays whose it is. Default: the owner's. */
  readonly person?: string | null
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
  readonly maxSteps?: number
  /** Seconds by the clock that each of its runs may take. Default: `agent.run_budget_seconds` of config.yaml, for what is not delegated. */
  readonly maxSeconds?: number
  /** Of a new session. Default: it gets one after its first answer. */
  readonly title?: string
  /** How its answers are made, until the session chooses otherwise. Default, each by itself: as config.yaml has it for the model. */
  readonly sampling?: Sampling
  /** Whether tools may tell something after their call; no where no further message comes. Default `true`. */
  readonly notices?: boolean
  /** Whether `@file:`, `@url:` and their kin in a message are attached to it. Default `true`. */
  readonly references?: boolean
  /** MCP servers of this session alone, as `mcp_servers` of config.yaml has them; they end with its agent. Default: none. */
  readonly mcpServers?: Readonly<Record<string, unknown>>
  /** Tools of this session alone, of whoever talks to it; children have none of them. Default: none. */
  readonly toolSources?: readonly ToolSource[]
  readonly ask?: AgentOptions['ask']
  /** The chat that is told each answer, through the outbox of the store. Default: none. */
  readonly deliverTo?: { readonly platform: string; readonly target: string }
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
  /**
   * Lets another model go on with the session, with the same shell, what runs in it and the same tasks; this agent is not used any more.
   * Not while a run is active. Rejects like {@link Runtime.createAgent}, and with `runtime.model_not_listed` when the endpoint lists its
   * models without this one, unless `force`; then everything is as before.
   */
  changeModel(
    change: Pick<AgentRequest, 'model' | 'provider' | 'baseUrl'> & { readonly force?: boolean },
  ): Promise<ReadyAgent>
  /**
   * Has the session use one key or login of its provider alone from the next request on, kept with it; `null` goes back to what the project or
   * the home uses. `name`: label, id or place. Resolves with its label. Rejects with `credentials.unknown`, and as the store does.
   */
  useAccount(name: string | null): Promise<string | null>
  /** The label of the one that the session chose; `null` for none. */
  account(): Promise<string | null>
  /** Runs a command that the person typed, where its commands run. Rejects with `policy.denied` and the reason. */
  runOwnCommand(command: string, options: OwnCommandOptions): Promise<ExecResult>
  /** The files of its workspace as they are found, relative paths, ignore files honoured; for the person to name one. */
  files(signal: AbortSignal): AsyncIterable<readonly string[]>
  /** What endpoints said about how much may still be asked, by key and model. */
  limits(): readonly KeyLimits[]
  /**
   * The client for a task beside the conversation, such as `vision`: who `auxiliary` of config.yaml names, else the agent's own model and
   * those that stand in for it.
   * @throws HermesError `models.*`: one line with what is missing.
   */
  auxiliaryTask(task: string): Promise<ModelClient>
  /** What of the request is left out, such as a server that cannot be started as it says; a line each. */
  readonly problems: readonly string[]
  /**
   * Hands a task of the person's own to a fresh agent in the background; resolves with its id.
   * @throws HermesError `agent.no_background` where no results come later, or nothing may be delegated.
   */
  startTask(goal: string): Promise<string>
  /** The tasks it has delegated, to watch, pause, end and tell something. */
  readonly children: Children
  /** Whether background processes or tasks of the agent still run. */
  hasProcesses(): boolean
  /** The background processes that it started and those that have ended, as far as they are known. */
  processes(): readonly BackgroundProcess[]
  /** Tokens that its model takes, as far as somebody has said or looked it up; else `null`. */
  contextWindow(): number | null
  /**
   * Ends its background processes and frees what it holds; the session stays and is noted as ended, `reason` being why in a word (default
   * `closed`). Not while a run is active.
   */
  close(reason?: string): Promise<void>
}

/** A mixture of models, for a single question. */
export interface MixtureRequest {
  /** Default: `moa.default_preset` of config.yaml. */
  readonly preset?: string | undefined
  /** Told of each reference once it has answered or failed. */
  readonly onReference?: ((outcome: ReferenceOutcome) => void) | undefined
}

/** A title of a few words, a summary for searches, a look for what memory and one for what skills should keep. The names are kinds of jobs in the store. */
export type SessionJob = 'session-title' | 'session-summary' | 'memory-review' | 'skill-review'

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
  /** The parts of this home, and what they have registered. */
  readonly extensions: Pick<ExtensionRegistry, 'list' | 'watchCommands' | 'outside'>
  /** The chat platforms that extensions of this home bring, whether they have an account or not. */
  readonly chatPlatforms: readonly OwnPlatform[]
  /** Does the jobs of the store that extensions have handlers for, until the signal fires. Never rejects. */
  runJobs(signal: AbortSignal): Promise<void>
  /** What the policy goes by, and what it would decide. */
  readonly permissions: Pick<HomePolicy, 'policy' | 'settings' | 'explain' | 'rulesOfNoTool'>
  /** The logins that the browser fills in. */
  readonly vault: Vault
  /** Which projects the person trusts with what they bring. */
  readonly trust: TrustStore
  /** Programs that run at events, and what the person said of them. */
  readonly hooks: Pick<HomeHooks, 'list' | 'agree'>
  /** Who is who, as config.yaml has it. */
  readonly people: Pick<People, 'personOf' | 'hasKeys' | 'holderOf'>
  /** What agents remember across sessions of the owner; `null` where config.yaml switches it off. */
  readonly memory: HomeMemory | null
  /** Nothing is read before the first is asked for. */
  readonly skills: Pick<HomeSkills, 'served' | 'unknown' | 'list' | 'typed'>
  /** The memory beyond the files; `null` where config.yaml names no provider. Nothing is loaded before it is asked. */
  readonly longMemory: Pick<HomeLongMemory, 'provider' | 'describe' | 'check'> | null
  /** The same with other settings than those of config.yaml, to be tried before they are kept. */
  memoryProvider(
    settings: Partial<HermesConfig['memory']> & Pick<HermesConfig['memory'], 'provider'>,
  ): Pick<HomeLongMemory, 'describe' | 'check'>
  /** What is known about models, loaded on first use. */
  readonly models: Pick<HomeModels, 'directory' | 'window'>
  /** The session store; opened on first use, from when on it is backed up once a day. */
  storage(): Promise<Storage>
  /** Folders where the store leaves what it takes no more. */
  readonly rescueDirs: readonly string[]
  /** Copies of the session store, in the home's folder `backups`. */
  backups(): Backups
  /** Snapshots of workspaces; loaded on first use. */
  readonly checkpoints: Pick<HomeCheckpoints, 'open'>
  /** A `fetch` to the origin of a configured address and nowhere else, through the proxy meant for it. */
  fetchTo(baseUrl: string): typeof fetch
  /**
   * Gets what a person named by its address, where the policy lets it and nobody is asked; only from the public network.
   * @throws HermesError `policy.denied`, `policy.address_refused`, `fetch.failed`, also for an answer that is none or too large; the abort.
   */
  fetchForPerson(url: string, request: PersonFetch): Promise<Uint8Array>
  /** Takes the secrets of the home out of a text that leaves it another way than through a session's log. */
  redact(text: string): string
  /** The keys and logins of a choice; `null` when it has one key at most, the one in it, and no account of a session. */
  credentialsFor(choice: ModelChoice): Promise<CredentialSource | null>
  /**
   * Which model a request would get.
   * @throws HermesError with one line that says what is missing.
   */
  chooseModel(requested: Pick<AgentRequest, 'provider' | 'model' | 'baseUrl' | 'session'>): ModelChoice
  /**
   * The models of a mixture in config.yaml; of the default one without a name.
   * @throws HermesError `models.unknown_preset`, `models.bad_preset`, and what {@link Runtime.chooseModel} throws.
   */
  chooseMixture(preset?: string): MixtureChoice
  /** A mixture as a client; what it asks is in the ledger and held by budgets. Rejects as {@link Runtime.chooseMixture} throws. */
  mixture(request?: MixtureRequest): Promise<ModelClient>
  /**
   * A ready agent on a new or continued session.
   * @throws HermesError `models.*`, `registry.unknown_toolset`: one line naming what is valid.
   */
  createAgent(request: AgentRequest): Promise<ReadyAgent>
  /** All calls of models for a session so far: those of the tasks it delegated, its titles and summaries among them. Rejects as the store does. */
  spent(sessionId: string): Promise<UsageTotal>
  /** What config.yaml wants done for sessions beside their runs. */
  readonly sessionJobs: readonly SessionJob[]
  /**
   * Does one for a stored session, by an auxiliary task; resolves with whether anything came of it: not where it was done before or too
   * little was said. Rejects as the model or the store does, and with an abort when the runtime is closed.
   */
  doSessionJob(kind: SessionJob, sessionId: string): Promise<boolean>
  /** What a new session would be told first, as things stand now. A model that is not set up gets no advice of its own. */
  prompt(
    request: Pick<AgentRequest, 'platform' | 'cwd' | 'model' | 'provider' | 'toolsets' | 'instructions'>,
  ): Promise<{
    readonly system: SystemPrompt
    readonly tools: readonly ToolDefinition[]
  }>
  /** Which terminal backends are ready, and why not; hosts are asked only when online. */
  terminalBackends(options: { readonly isOffline: boolean }): Promise<readonly BackendStatus[]>
  /** Where commands may write without leave to run outside the isolation; `null` where they are not isolated. */
  isolatedTo(): readonly string[] | null
  /** All tools, sorted by name. */
  tools(): Promise<readonly ToolStatus[]>
  /** Who answers when the chosen model does not, in order, and what is wrong with entries that cannot be used. */
  fallbacks(): Fallbacks
  /** All toolsets by name, with the tools each comes to, those of the sets it includes among them. */
  toolsets(): Readonly<
    Record<
      string,
      { readonly description: string; readonly tools: readonly string[]; readonly includes: readonly string[] }
    >
  >
  /** Ends background processes and the sessions that are open, `reason` being why in a word (default `closed`); closes recordings and the store. */
  close(reason?: string): Promise<void>
}
