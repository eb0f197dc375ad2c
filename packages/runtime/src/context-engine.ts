import type { HermesConfig } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import type { ModelClient } from '@hermes/contracts/model'

/** No model has so small a window that fewer tokens would matter. */
const ALWAYS_FITS = 4_000

/** What condenses the sessions of an agent, and with what. */
export interface ContextEngineOptions {
  readonly settings: HermesConfig['compression']
  /** Tokens of the window of the model in use. */
  readonly windowOf: () => Promise<number>
  /** Asked for summaries, in this order. */
  readonly models: readonly ModelClient[]
  readonly clock: Clock
  readonly logger: Logger
}

/** The context engine of a home; loaded once a session is long enough to need it. `null` where config.yaml switches it off. */
export function openContextEngine(options: ContextEngineOptions): ContextEngine | null {
  const { settings, windowOf, models, clock, logger } = options
  if (!settings.enabled) return null
  let loading: Promise<ContextEngine> | undefined
  const load = () => {
    loading ??= import('@hermes/compression').then(({ createContextCompressor }) =>
      createContextCompressor({ windowOf, models, clock, logger, settings: toSettings(settings) }),
    )
    return loading
  }
  return {
    isDue: (state) => (state.tokens < ALWAYS_FITS ? false : load().then((engine) => engine.isDue(state))),
    plan: async (request) => (await load()).plan(request),
    compact: async (request, call) => (await load()).compact(request, call),
  }
}

function toSettings(settings: HermesConfig['compression']) {
  return {
    targetRatio: settings.target_ratio,
    protectFirst: settings.protect_first_n,
    protectLast: settings.protect_last_n,
    ...(settings.threshold === undefined ? {} : { threshold: settings.threshold }),
    ...(settings.threshold_tokens === undefined ? {} : { thresholdTokens: settings.threshold_tokens }),
  }
}
