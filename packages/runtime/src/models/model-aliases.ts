import type { SessionInfo } from '@hermes/contracts/store'

/** What a name of the person's own stands for. */
export interface ModelAlias {
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly baseUrl?: string | undefined
  /** The variable that holds the key. */
  readonly keyEnv?: string | undefined
}

/** What is asked for, as flags and callers say it. */
interface Requested {
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly keyEnv?: string
}

/** What may hold a name of the person's own. */
interface Named<Configured> {
  readonly requested: Requested
  readonly session: Pick<SessionInfo, 'provider' | 'baseUrl'> | null
  readonly configured: Configured
  readonly aliases?: Readonly<Record<string, ModelAlias>>
}

/**
 * What is asked for and configured, with names of the person's own replaced by what they stand for. A provider or an address that is asked
 * for by itself counts more than that of the alias. An alias with an address never gets a key that was configured for another one. Pure.
 */
export function withoutAliases<Configured extends { readonly model?: string | undefined }>(
  options: Named<Configured>,
): {
  readonly requested: Requested
  readonly configured: Configured | Omit<Configured, 'model'> | Record<never, never>
} {
  const { requested, session, configured, aliases = {} } = options
  const isOpen = requested.provider === undefined && requested.baseUrl === undefined
  const wanted = aliasOf(requested.model, aliases)
  if (wanted) return { configured, requested: { ...requested, ...parts(wanted, isOpen) } }
  if (requested.model !== undefined || !isOpen) return { requested, configured }
  if (session?.provider) {
    // The log keeps the address and the model; the key is found by the address.
    const at = Object.values(aliases).find(({ baseUrl }) => baseUrl !== undefined && baseUrl === session.baseUrl)
    return { configured, requested: at?.keyEnv === undefined ? requested : { ...requested, keyEnv: at.keyEnv } }
  }
  const usual = aliasOf(configured.model, aliases)
  if (!usual) return { requested, configured }
  const { model: _model, ...rest } = configured
  const isElsewhere = usual.provider !== undefined || usual.baseUrl !== undefined
  return { configured: isElsewhere ? {} : rest, requested: { ...requested, ...parts(usual, true) } }
}

function aliasOf(name: string | undefined, aliases: Readonly<Record<string, ModelAlias>>): ModelAlias | undefined {
  const wanted = name?.toLowerCase()
  return Object.entries(aliases).find(
    ([alias, { model }]) => model !== undefined && alias.toLowerCase() === wanted,
  )?.[1]
}

function parts({ model, provider, baseUrl, keyEnv }: ModelAlias, isOpen: boolean): Requested {
  return {
    ...(model === undefined ? {} : { model }),
    ...(isOpen && provider !== undefined ? { provider } : {}),
    ...(isOpen && baseUrl !== undefined ? { baseUrl } : {}),
    ...(isOpen && keyEnv !== undefined ? { keyEnv } : {}),
  }
}
