import { hostname } from 'node:os'
import { type Clock, HermesError, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import type { Usage } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { Extension } from '@hermes/contracts/extension'
import type { ModelClient } from '@hermes/contracts/model'
import type { Policy, Subject } from '@hermes/contracts/policy'
import type { NewSession, SessionStore } from '@hermes/contracts/store'
import type { Answer, Question, Tool } from '@hermes/contracts/tool'
import { createModelClient, type ModelClientOptions } from '@hermes/models'
import { createToolRegistry, type ToolRegistry, type ToolsetSelection } from '@hermes/registry'
import { createAllowAllPolicy } from '@hermes/safety'
import { ActivityTracker } from './events/activity.js'
import { createExtensionRegistry } from './extension-registry/extension-registry.js'
import type { Hooks } from './extension-registry/hook-table.js'
import { standardExtensions } from './extensions/standard.js'
import type { AgentParts, Sampling } from './loop/run-context.js'
import type { SystemSource } from './prompt/layers.js'
import { SessionLog } from './session/session.js'
import { createSessionId } from './session/session-id.js'
import { type Pausable, PauseGate } from './steering/pause.js'
import { SteerQueue } from './steering/steer-queue.js'
import { createMemoryStore } from './stores/memory-store.js'

const DEFAULT_MAX_STEPS = 90
const DEFAULT_SYSTEM =
  'You are a capable assistant. Use your tools to do what is asked, check the outcome, and answer plainly and briefly.'

/** What an agent is made of. Only `model` is needed. */
export interface AgentOptions extends Sampling {
  /** A client, or what one is made of: provider, model and key. */
  readonly model: ModelClient | ModelClientOptions
  /** Tools, or a registry that others fill too. Default none. */
  readonly tools?: readonly Tool[] | ToolRegistry
  /** Which toolsets of the registry the session sees. Default all. */
  readonly toolsets?: ToolsetSelection
  /** System text, read once per session; of `buildSystemPrompt` its layers are stored too. Default: two plain sentences. */
  readonly system?: SystemSource
  /** Default: a store in memory. */
  readonly store?: SessionStore
  /** Continues this session; made when it does not exist. Default: a new one, made by the first run. */
  readonly sessionId?: string
  /** What the store notes about a new session. Default source `embedded`. */
  readonly session?: Omit<NewSession, 'id' | 'source'> & { readonly source?: string }
  /** Where tools run commands and open files. Default none: such tools answer with an error. */
  readonly environment?: Environment
  /** Keeps long sessions within the model's window. Default none: such a session ends with the provider's error. */
  readonly contextEngine?: ContextEngine
  /** Default: everything the program's own tools do is allowed. */
  readonly policy?: Policy
  /** On whose behalf the policy is asked. Default: the model, on surface `embedded`. */
  readonly subject?: Partial<Pick<Subject, 'platform' | 'user' | 'origin' | 'agentPath' | 'rootSessionId'>>
  /** What it delegated: paused while the session plans, and what all that has ended came to. Default: nothing is delegated. */
  readonly children?: Pausable & { usage(): Usage }
  /** What looks in or steps in: a list that is set up for this agent, or what was set up for several. Default: {@link standardExtensions}. */
  readonly extensions?: readonly Extension[] | { readonly hooks: Hooks }
  /** Answers questions of tools such as `clarify`. Default: nobody does. */
  readonly ask?: (question: Question, options: { readonly signal: AbortSignal }) => Promise<Answer>
  /**
   * Whether tools may tell something after their call, for example that a background process ended: on the next tool result, or with
   * the next message. Default `true`; `false` where there is no next one.
   */
  readonly notices?: boolean
  /** Model calls per run before the one grace call. Default 90, at least 1. */
  readonly maxSteps?: number
  /** Takes registered secret values out of what is stored. Default: nothing is registered. */
  readonly redact?: (text: string) => string
  readonly clock?: Clock
  readonly logger?: Logger
}

/**
 * What an agent works with, the defaults filled in.
 * @throws HermesError `agent.bad_options` naming the option.
 */
export function assembleAgent(options: AgentOptions): Omit<AgentParts, 'notify'> {
  const clock = options.clock ?? systemClock
  const logger = options.logger ?? silentLogger
  const { source = 'embedded', ...session } = options.session ?? {}
  const { extensions = standardExtensions() } = options
  const own = isList(extensions) ? createExtensionRegistry(extensions, { logger }) : null
  const { hooks } = own ?? (extensions as { readonly hooks: Hooks })
  const tools = isRegistry(options.tools) ? options.tools : createToolRegistry({ tools: options.tools ?? [] })
  const used = own ? tools.use(own.tools) : null
  const id = options.sessionId ?? createSessionId(clock.now())
  return {
    model: isModelClient(options.model) ? options.model : createModelClient(options.model),
    registry: tools,
    toolsets: options.toolsets ?? {},
    system: options.system ?? DEFAULT_SYSTEM,
    environment: options.environment ?? null,
    engine: options.contextEngine ?? null,
    policy: options.policy ?? createAllowAllPolicy(),
    subject: { platform: 'embedded', origin: 'model', agentPath: ['root'], ...options.subject, sessionId: id },
    hooks,
    closeExtensions: async () => {
      used?.dispose()
      await own?.close()
    },
    ask: options.ask ?? null,
    maxSteps: maxStepsOf(options),
    sampling: definedOnly({
      maxOutputTokens: options.maxOutputTokens,
      temperature: options.temperature,
      reasoningEffort: options.reasoningEffort,
    }),
    clock,
    logger,
    session: new SessionLog({
      store: options.store ?? createMemoryStore({ clock }),
      session: { ...session, id, source },
      owner: `${process.pid}@${hostname()}`,
      clock,
      logger,
      redact: options.redact ?? ((text) => text),
      dataIn: (entry, toolName) => hooks.dataIn(entry, toolName),
    }),
    activity: new ActivityTracker(() => clock.now()),
    steering: new SteerQueue(),
    gate: new PauseGate(),
  }
}

function definedOnly<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** What an array is, is no registry; the type alone does not say so. */
function isList(extensions: NonNullable<AgentOptions['extensions']>): extensions is readonly Extension[] {
  return Array.isArray(extensions)
}

function isModelClient(model: AgentOptions['model']): model is ModelClient {
  return typeof (model as Partial<ModelClient>).stream === 'function'
}

function isRegistry(tools: AgentOptions['tools']): tools is ToolRegistry {
  return tools !== undefined && !Array.isArray(tools)
}

function maxStepsOf({ maxSteps = DEFAULT_MAX_STEPS }: AgentOptions): number {
  if (Number.isInteger(maxSteps) && maxSteps >= 1) return maxSteps
  throw new HermesError(`maxSteps must be a whole number of at least 1, got ${maxSteps}.`, {
    code: 'agent.bad_options',
  })
}
