import type { HermesConfig } from '@hermes/config'
import { type Clock, errorLine, type JsonObject, type Logger } from '@hermes/contracts'
import type { CompactRequest, ContextEngine } from '@hermes/contracts/context'
import type { Entry } from '@hermes/contracts/conversation'
import type { CallScope, ModelClient } from '@hermes/contracts/model'
import type { EngineContext } from './own-context-engine.js'

/** No model but one on the own machine has so small a window that fewer tokens would matter. */
const ALWAYS_FITS = 4_000
/** No share of such a window that compaction may be set to is less. */
const FITS_ANY_SHORT = 10 * ALWAYS_FITS

/** What compacts the sessions of an agent, and with what. */
interface ContextEngineOptions {
  readonly settings: HermesConfig['compression']
  /** Whose window it is. */
  readonly model: { readonly provider: string; readonly model: string }
  /** What config.yaml says of the summaries as a auxiliary task. */
  readonly summaries: HermesConfig['auxiliary'][string]
  /** One that config.yaml names in place of the usual one; `null` for that. */
  readonly own: EngineContext | null
  /** Tokens of the window of an endpoint that may answer: the chosen one, or one that it falls back on. */
  readonly windowOf: (endpoint: { readonly provider: string; readonly model: string }) => Promise<number>
  /** Whether the window may be so small that the first request does not fit. Default `false`: short sessions are not looked at. */
  readonly mayBeTiny?: boolean
  /** How a person gives the model a larger window: a sentence. Default: nobody can. */
  readonly largerWindow?: string
  /** Asked for summaries, in this order. */
  readonly models: readonly ModelClient[]
  /** Whose spending a summary is. */
  readonly scopeOf: (cause: CompactRequest['cause']) => Omit<CallScope, 'purpose'>
  /** Told of the log before anything of it is compacted. Must not throw. */
  readonly beforeCompaction?: (entries: readonly Entry[]) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** The context engine of a home; loaded once a session is long enough to need it. `null` where config.yaml switches it off. */
export function openContextEngine(input: ContextEngineOptions): ContextEngine | null {
  const { settings, windowOf, clock, logger } = input
  if (!settings.enabled) return null
  let scope: Omit<CallScope, 'purpose'> = {}
  const models = input.models.map((client): ModelClient => {
    const { provider, model } = client
    return { provider, model, stream: (request, call) => client.stream(request, { ...scope, ...call }) }
  })
  const options = { ...input, models }
  let loading: Promise<ContextEngine> | undefined
  const usual = async () => {
    const { createContextCompressor } = await import('@hermes/compression')
    const { timeout, max_tokens: maxOutputTokens } = input.summaries ?? {}
    return createContextCompressor({
      ...{ windowOf, models, clock, logger },
      settings: { ...toSettings(input), ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) },
      ...(timeout === undefined ? {} : { timeoutMs: timeout * 1_000 }),
    })
  }
  const load = () => {
    loading ??= options.own === null ? usual() : own(options, options.own).then((engine) => engine ?? usual())
    return loading
  }
  return {
    ...(input.largerWindow === undefined ? {} : { largerWindow: input.largerWindow }),
    isDue: async (state) => {
      const isShort = state.tokens < ALWAYS_FITS
      if (isShort && (!input.mayBeTiny || (await windowOf(state)) > FITS_ANY_SHORT)) return false
      return (await load()).isDue(state)
    },
    plan: async (request) => (await load()).plan(request),
    compact: async (request, call) => {
      const engine = await load()
      options.beforeCompaction?.(request.entries)
      scope = options.scopeOf(request.cause)
      return engine.compact(request, call)
    },
  }
}

/** One's own engine; without it sessions are kept within the window in the usual way. */
async function own(
  { settings, windowOf, models, clock, logger }: ContextEngineOptions,
  context: EngineContext,
): Promise<ContextEngine | null> {
  try {
    const { loadOwnEngine } = await import('./own-context-engine.js')
    return await loadOwnEngine(context, { windowOf, models, clock, logger, settings: { ...settings } as JsonObject })
  } catch (error) {
    logger.error('The usual context engine is used instead.', { error: errorLine(error) })
    return null
  }
}

function toSettings({ settings, model }: ContextEngineOptions) {
  const threshold = thresholdOf(settings.model_thresholds, model) ?? settings.threshold
  return {
    targetRatio: settings.target_ratio,
    protectFirst: settings.protect_first_n,
    protectLast: settings.protect_last_n,
    ...(threshold === undefined ? {} : { threshold }),
    ...(settings.threshold_tokens === undefined ? {} : { thresholdTokens: settings.threshold_tokens }),
  }
}

/** What is said of a model by the longest part of its id. */
function thresholdOf(
  thresholds: HermesConfig['compression']['model_thresholds'],
  { provider, model }: ContextEngineOptions['model'],
): number | undefined {
  const id = model.toLowerCase()
  const isMeant = (key: string) =>
    id.includes(key) || (key.startsWith(`${provider}:`) && id.includes(key.slice(provider.length + 1)))
  const [meant] = Object.keys(thresholds)
    .filter((key) => isMeant(key.toLowerCase()))
    .sort((left, right) => right.length - left.length)
  return meant === undefined ? undefined : thresholds[meant]
}
