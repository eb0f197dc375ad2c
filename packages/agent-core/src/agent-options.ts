import { type Clock, HermesError, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import type { Sampling } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { Extension } from '@hermes/contracts/extension'
import type { ModelClient } from '@hermes/contracts/model'
import type { FolderTrust, Policy, Subject } from '@hermes/contracts/policy'
import type { NewOutboxMessage, NewSession, SessionStore } from '@hermes/contracts/store'
import type { AskPerson, Tool } from '@hermes/contracts/tool'
import { createModelClient, type ModelClientOptions } from '@hermes/models'
import { createToolRegistry, type ToolRegistry, type ToolsetSelection } from '@hermes/registry'
import { createAllowAllPolicy } from '@hermes/safety'
import { ActivityTracker } from './events/activity.js'
import { createExtensionRegistry } from './extension-registry/extension-registry.js'
import type { Hooks } from './extension-registry/hook-table.js'
import { standardExtensions } from './extensions/standard.js'
import type { AgentParts } from './loop/run-context.js'
import type { SystemSource } from './prompt/layers.js'
import { createSessionId, SessionLog } from './session/session.js'
import { type DelegatedTasks, PauseGate } from './steering/pause.js'
import { SteerQueue } from './steering/steer-queue.js'
import { createMemoryStore } from './stores/memory-store.js'

const DEFAULT_MAX_STEPS = 90
const DEFAULT_SYSTEM =
  'You are a capable assistant. Use your tools to do what is asked, check the outcome, and answer plainly and briefly.'

/** What an agent is made of. Only `model` is needed. */
export interface AgentOptions {
  /** A client, or what one is made of: provider, model and key. */
  readonly model: ModelClient | ModelClientOptions
  /** How the model is called, and how often. Default: as the provider samples, 90 times. */
  readonly steps?: StepOptions
  /** Tools, a registry that others fill too, or one of which the session sees some toolsets. Default none. */
  readonly tools?: readonly Tool[] | ToolRegistry | SelectedTools
  /** System text, read once per session; of `buildSystemPrompt` its layers are stored too. Default: two plain sentences. */
  readonly system?: SystemSource
  /** Which session it works on. Default: a new one in memory, made by the first run. */
  readonly session?: SessionOptions
  /** Where tools run commands and open files. Default none: such tools answer with an error. */
  readonly environment?: Environment
  /** Keeps long sessions within the model's window. Default none: such a session ends with the provider's error. */
  readonly contextEngine?: ContextEngine
  /** What it may do, and for whom. Default: everything the program's own tools do is allowed. */
  readonly safety?: SafetyOptions
  /** What looks in or steps in: a list that is set up for this agent, or what was set up for several. Default: {@link standardExtensions}. */
  readonly extensions?: readonly Extension[] | { readonly hooks: Hooks }
  /** Answers questions of tools such as `clarify`, or has the run park until an answer is there. Default: nobody does. */
  readonly ask?: AskPerson
  readonly clock?: Clock
  readonly logger?: Logger
}

/** How the model is called in each step of a run. */
interface StepOptions extends Sampling {
  /** Model calls per run before the one grace call. Default 90, at least 1. */
  readonly max?: number
  /** Seconds by the clock that a run may take, more than 0; then it is ended as `stopped`, calls under way included. Default: no limit. */
  readonly maxSeconds?: number
}

/** Tools of which a session sees some. */
interface SelectedTools {
  readonly registry: ToolRegistry
  readonly toolsets: ToolsetSelection
}

/** Where a session is kept, what the store notes about a new one, and what belongs to it. */
interface SessionOptions extends Partial<NewSession> {
  /** Default: a store in memory. */
  readonly store?: SessionStore
  /** Continues this session; made when it does not exist. Default: a new one, made by the first run. */
  readonly id?: string
  /** Default `embedded`. */
  readonly source?: string
  /**
   * Whether tools may tell something after their call, for example that a background process ended: on the next tool result, or with
   * the next message. Default `true`; `false` where there is no next one.
   */
  readonly notices?: boolean
  /** What was delegated: paused while the session plans, and what all that has ended came to. Default: nothing is delegated. */
  readonly children?: DelegatedTasks
  /** The chat that is told each answer: it is in the outbox of the store with the append that makes it durable. Default: nobody is. */
  readonly deliverTo?: Pick<NewOutboxMessage, 'platform' | 'target'>
}

/** What an agent may do. */
interface SafetyOptions {
  readonly policy?: Policy
  /** On whose behalf the policy is asked. Default: the model, on platform `embedded`. */
  readonly subject?: Partial<
    Pick<Subject, 'platform' | 'user' | 'homePlaces' | 'origin' | 'agentPath' | 'rootSessionId'>
  >
  /** Takes registered secret values out of what is stored. Default: nothing is registered. */
  readonly redact?: (text: string) => string
  /** Which projects the person trusts, so that their files do not taint a session. Default: none. */
  readonly trust?: FolderTrust
}

/**
 * What an agent works with, the defaults filled in.
 * @throws HermesError `agent.bad_options` naming the option.
 */
export function assembleAgent(options: AgentOptions, notify: NonNullable<AgentParts['notify']>): AgentParts {
  const { extensions = standardExtensions(), clock = systemClock, logger = silentLogger } = options
  const {
    store,
    id = createSessionId(clock.now()),
    notices = true,
    children,
    deliverTo,
    ...session
  } = options.session ?? {}
  if (deliverTo && !store?.outbox) throw noOutbox()
  const { policy, subject, redact = (text: string) => text, trust } = options.safety ?? {}
  const { max = DEFAULT_MAX_STEPS, maxSeconds, ...sampling } = options.steps ?? {}
  const own = isList(extensions) ? createExtensionRegistry(extensions, { logger }) : null
  const { hooks } = own ?? (extensions as { readonly hooks: Hooks })
  const { registry, toolsets } = selected(options.tools ?? [])
  const used = own ? registry.use(own.tools) : null
  return {
    model: isModelClient(options.model) ? options.model : createModelClient(options.model),
    registry,
    toolsets,
    system: options.system ?? DEFAULT_SYSTEM,
    environment: options.environment ?? null,
    engine: options.contextEngine ?? null,
    policy: policy ?? createAllowAllPolicy(),
    subject: { platform: 'embedded', origin: 'model', agentPath: ['root'], ...subject, sessionId: id },
    trust,
    hooks,
    closeExtensions: async () => {
      used?.dispose()
      await own?.close()
    },
    ask: options.ask ?? null,
    maxSteps: checkedMax(max),
    maxSeconds: checkedSeconds(maxSeconds),
    sampling,
    clock,
    logger,
    session: new SessionLog({
      store: store ?? createMemoryStore({ clock }),
      session: { source: 'embedded', ...session, id },
      owner: subject?.platform ?? 'embedded',
      clock,
      logger,
      redact,
      trust,
      dataIn: (entry, toolName) => hooks.dataIn(entry, toolName),
    }),
    children: children ?? null,
    deliverTo: deliverTo ?? null,
    activity: new ActivityTracker(() => clock.now()),
    steering: new SteerQueue(),
    gate: new PauseGate(),
    notify: notices ? notify : null,
  }
}

/** What an array is, is no registry; the type alone does not say so. */
function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value)
}

function isModelClient(model: AgentOptions['model']): model is ModelClient {
  return typeof (model as Partial<ModelClient>).stream === 'function'
}

function selected(tools: NonNullable<AgentOptions['tools']>): SelectedTools {
  if (isList(tools)) return { registry: createToolRegistry({ tools }), toolsets: {} }
  return 'registry' in tools ? tools : { registry: tools, toolsets: {} }
}

function noOutbox(): HermesError {
  return new HermesError('session.deliverTo needs a session.store that has an outbox.', { code: 'agent.bad_options' })
}

function checkedSeconds(seconds: number | undefined): number | null {
  if (seconds === undefined) return null
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new HermesError(`steps.maxSeconds must be more than 0, got ${seconds}.`, { code: 'agent.bad_options' })
}

function checkedMax(max: number): number {
  if (Number.isInteger(max) && max >= 1) return max
  throw new HermesError(`steps.max must be a whole number of at least 1, got ${max}.`, { code: 'agent.bad_options' })
}
