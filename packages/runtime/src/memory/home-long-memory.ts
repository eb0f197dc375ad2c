import { errorLine, HermesError, type JsonObject, type Logger } from '@hermes/contracts'
import type { Factories, MemoryRequest } from '@hermes/contracts/extension'
import type { AgentMemory } from '@hermes/memory/extension'
import type { LongMemory, ProviderChoice } from '@hermes/memory/providers'
import type { RecallService } from '@hermes/memory/tools'
import type { LongMemorySettings } from './long-memory-choice.js'

/** The memory of a home beyond its files: the one provider that config.yaml names. */
export interface HomeLongMemory extends Required<Pick<AgentMemory, 'recall' | 'keep'>>, RecallService {
  readonly provider: string
  /** Where it is and whose memories it holds; no key. Rejects with what is missing. */
  describe(): Promise<{ readonly address: string; readonly userId: string | null }>
  /** Asks the provider whether it can be used; rejects with one line that says what is wrong. Abort passes through. */
  check(options: { readonly signal: AbortSignal }): Promise<void>
  /** Waits a moment for what is still to be kept. Never rejects. */
  close(): Promise<void>
}

/** Nothing is loaded or asked before the first message. `null` where config.yaml names no provider. */
export function openHomeLongMemory(
  options: LongMemorySettings & {
    readonly redact: (text: string) => string
    readonly logger: Logger
    /** What an extension makes under the name of the provider. */
    readonly ownProvider: () => Factories['memory'] | undefined
  },
): HomeLongMemory | null {
  const { settings, clock, logger } = options
  if (settings.provider === '') return null
  let memory: Promise<LongMemory> | null = null
  const own = (create: Factories['memory']) => create(ownRequest(options))
  const choose = async (): Promise<ProviderChoice> =>
    (await import('./long-memory-choice.js')).chooseLongMemory(options)
  const providers = () => import('@hermes/memory/providers')
  const open = async () => {
    const create = options.ownProvider()
    return create ? own(create) : (await providers()).openMemoryProvider(await choose())
  }
  const load = () => {
    const { recall_limit: limit, recall_timeout: seconds } = settings
    memory ??= providers().then(({ openLongMemory }) =>
      openLongMemory({ open, limit, recallTimeoutMs: seconds * 1_000, clock, logger }),
    )
    return memory
  }
  return {
    provider: settings.provider,
    recall: async (text, call) => (await (await load()).recall(options.redact(text), call)).map((one) => one.text),
    search: async (text, { signal }) =>
      (await load()).ask((provider) => provider.recall(options.redact(text), { limit: settings.recall_limit, signal })),
    store: async (text, call) => {
      const { loadChecks, objectionTo, orderIn } = await import('@hermes/memory')
      const objection = orderIn(text) ?? objectionTo(text, await loadChecks(options.redact))
      if (objection !== null) throw new HermesError(objection, { code: 'memory.refused' })
      await (await load()).ask((provider) => provider.store(text, call))
    },
    forget: async (id, call) => (await load()).ask((provider) => provider.forget(id, call)),
    keep: (turn) => {
      load().then(
        (loaded) => loaded.keep(turn),
        (error: unknown) => logger.warn('An exchange was not kept.', { error: errorLine(error) }),
      )
    },
    describe: async () => {
      if (options.ownProvider())
        return { address: 'an extension', userId: options.person?.name ?? settings.user_id ?? options.user }
      const choice = await choose()
      return choice.name === 'local'
        ? { address: choice.path, userId: null }
        : { address: choice.baseUrl, userId: choice.userId }
    },
    check: async (call) => {
      const provider = await open()
      try {
        await provider.check(call)
      } finally {
        await provider.close()
      }
    },
    close: async () => {
      await (await memory?.catch(() => null))?.close()
    },
  }
}

function ownRequest(options: LongMemorySettings & { readonly logger: Logger }): MemoryRequest {
  const { settings, secrets, user, person, fetchTo, onSecret, clock, logger } = options
  return {
    settings: settings as unknown as JsonObject,
    userId: person?.name ?? settings.user_id ?? user,
    secret: (name) => {
      const secret = secrets[name]
      if (secret !== undefined && secret !== '') onSecret(secret)
      return secret
    },
    fetchTo,
    clock,
    logger,
  }
}
