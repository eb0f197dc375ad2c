import { access } from 'node:fs/promises'
import { type HermesConfig, homeLayout, readText } from '@hermes/config'
import { type Clock, errorLine, isJsonObject, type Logger } from '@hermes/contracts'
import type { AccountSource, BorrowedKey, CredentialPool, OAuthSettings, PoolStrategy } from '@hermes/credential-pool'
import { findProvider, keyVariablesFor } from '@hermes/transports'
import { secretsIn } from '../home/home-secrets.js'
import { type ModelChoice, poolName } from './model-choice.js'

/** What decides about the keys of a home. */
interface CredentialsOptions {
  readonly home: string
  readonly config: HermesConfig
  /** Environment and `.env` values by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** The way to token endpoints. */
  readonly fetchTo: (address: string) => typeof fetch
  readonly clock: Clock
  readonly logger: Logger
  /** Told of each secret before it is used. */
  readonly onSecret: (secret: string) => void
}

/** The keys of a choice as a session may use them. */
export interface ChoiceCredentials extends AccountSource {
  /** Whether there is one key, of which `auth.json` knew nothing: it is used for as long as neither the session nor its project chooses another. */
  readonly isSole: boolean
}

/** The keys and logins of a home. */
export interface Credentials {
  /**
   * The keys of a choice, shared by all agents that use them, each with the account of its session; `null` where there is no key, and for
   * what belongs to no session when there is one of which `auth.json` knows nothing.
   */
  sourceFor(choice: ModelChoice): Promise<ChoiceCredentials | null>
}

/** What `auth.json` holds. */
export interface StoredCredentials {
  /** The providers with keys or logins, each with the server they are for; `null` for the provider's own. As of the last look. */
  readonly providers: Readonly<Record<string, string | null>>
  /** Every key and token in it, used or not: what must not be shown. As of the last look. */
  readonly secrets: readonly string[]
  /** Whether the file ever had a key or login of a provider, as `auth.json` calls it. As of the last look. */
  knows(provider: string): boolean
  /** What is wrong with the file, a line each. As of the first look. */
  readonly problems: readonly string[]
  /** Looks again, as a long-running program does before each new agent. Never rejects. */
  look(): Promise<void>
}

/** Looks at `auth.json` of a home. Without the file nothing is loaded. Never rejects. */
export async function findCredentials(home: string, clock: Clock): Promise<StoredCredentials> {
  const { auth } = homeLayout(home)
  let found = await listCredentials(auth, clock)
  return {
    get providers() {
      return found.providers
    },
    get secrets() {
      return found.secrets
    },
    knows: (provider) => found.known.includes(provider),
    problems: found.problems,
    look: async () => {
      found = await listCredentials(auth, clock)
    },
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

type Listed = Pick<StoredCredentials, 'providers' | 'secrets' | 'problems'> & { readonly known: readonly string[] }

async function listCredentials(path: string, clock: Clock): Promise<Listed> {
  if (!(await exists(path))) return { providers: {}, secrets: [], problems: [], known: [] }
  const problems: string[] = []
  try {
    const { openCredentialStore } = await import('@hermes/credential-pool')
    const store = openCredentialStore({ path, clock, onProblem: (line) => problems.push(line) })
    const providers = (await store.providers()).map(async (provider): Promise<[string, string | null]> => {
      const first = (await store.list(provider)).find(({ state }) => state.type !== 'absent')
      return [provider, first?.baseUrl ?? null]
    })
    return { providers: Object.fromEntries(await Promise.all(providers)), ...(await storedText(path)), problems }
  } catch (error) {
    return { providers: {}, ...(await storedText(path)), problems: [...problems, errorLine(error)] }
  }
}

/** Read by itself, so that entries of other versions count too; a file that is no JSON gives none. */
async function storedText(path: string): Promise<Pick<Listed, 'secrets' | 'known'>> {
  try {
    const document: unknown = JSON.parse((await readText(path)) ?? '')
    const pool = isJsonObject(document) ? document['credential_pool'] : null
    return { secrets: secretsIn(document), known: isJsonObject(pool) ? Object.keys(pool) : [] }
  } catch {
    return { secrets: [], known: [] }
  }
}

/** Opens the keys and logins of a home; loads what it takes for several keys only where there are several. */
export function openCredentials(options: CredentialsOptions, stored: StoredCredentials): Credentials {
  const pools = new Map<string, Promise<CredentialPool>>()
  return {
    sourceFor: async (choice) => {
      const provider = poolName(choice.provider)
      const borrowed = borrowedKeys(choice, options.secrets)
      // Where all of several are gone, the one that is left is not taken for the account that a session chose.
      const needed = stored.knows(provider) ? 1 : 2
      const isPool = Object.hasOwn(stored.providers, provider) || borrowed.length >= needed
      const [sole] = borrowed
      const { account } = choice
      if (!isPool && (!sole || !account)) return null
      const name = JSON.stringify([provider, choice.baseUrl, borrowed.map(({ source }) => source)])
      const chosen = async () => (await account?.at(choice.provider)) ?? null
      const open = async () => {
        const pool = pools.get(name) ?? openPool(choice, { ...options, provider, borrowed })
        pools.set(name, pool)
        return (await pool).forAccount({ chosen, folder: account?.folder ?? null })
      }
      if (isPool) return { ...(await open()), isSole: false }
      // Where nothing can have been chosen, nothing is loaded.
      const mayBeChosen = async () => (await chosen()) !== null || exists(homeLayout(options.home).auth)
      return soleKey(sole!.secret, { open, mayBeChosen, clock: options.clock })
    },
  }
}

const SOLE = 'key'

/** The only key there was when a session was opened, and whatever account the session or its project chooses since. */
function soleKey(
  secret: string,
  {
    open,
    mayBeChosen,
    clock,
  }: {
    readonly open: () => Promise<AccountSource>
    readonly mayBeChosen: () => Promise<boolean>
    readonly clock: Clock
  },
): ChoiceCredentials {
  const alone = async () => ((await mayBeChosen()) ? (await open()).alone() : null)
  return {
    isSole: true,
    alone,
    select: async (options) => ((await alone()) ? (await open()).select(options) : { id: SOLE, secret }),
    usableAtMs: async () => ((await alone()) ? (await open()).usableAtMs() : clock.now()),
    report: async (credential, outcome) => {
      if (credential.id !== SOLE) await (await open()).report(credential, outcome)
    },
    refresh: async (credential, options) =>
      credential.id === SOLE ? null : (await open()).refresh(credential, options),
    find: async (name) => (await open()).find(name),
  }
}

async function openPool(
  choice: ModelChoice,
  options: CredentialsOptions & { readonly provider: string; readonly borrowed: readonly BorrowedKey[] },
): Promise<CredentialPool> {
  const { openCredentialPool } = await import('@hermes/credential-pool')
  const { home, config, provider, borrowed, fetchTo, clock, logger, onSecret } = options
  const oauth = oauthSettings(config, choice.provider)
  if (oauth?.clientSecret) onSecret(oauth.clientSecret)
  return openCredentialPool({
    path: homeLayout(home).auth,
    provider,
    strategy: poolStrategy(config, choice.provider),
    borrowed,
    baseUrl: choice.baseUrl,
    oauth,
    fetchTo,
    clock,
    logger,
    onSecret,
  })
}

/**
 * The keys a choice may use that live outside `auth.json`: the one that was configured for it, else all variables of the provider that
 * are set. A variable that belongs to other tools too is used when it is the first, never as a spare.
 */
export function borrowedKeys(choice: ModelChoice, secrets: Readonly<Record<string, string>>): readonly BorrowedKey[] {
  const { apiKey, catalogueId, baseUrl, provider } = choice
  const entry = findProvider(catalogueId)
  // What stands for a key there are the credentials of AWS, which look after themselves.
  if (apiKey === null || entry?.auth === 'aws') return []
  const known = entry ? keyVariablesFor(entry, baseUrl).filter((name) => entry.keyVariables.includes(name)) : []
  const own = choice.keyVariables ?? known
  const set = own.flatMap((name) => (secrets[name] ? [{ source: `env:${name}`, secret: secrets[name] }] : []))
  const spares = set.filter(({ secret }, index) => set.findIndex((other) => other.secret === secret) === index)
  if (spares[0]?.secret === apiKey) return spares
  const variable = Object.keys(secrets).find((name) => secrets[name] === apiKey)
  return [{ source: variable === undefined ? `config:${provider}` : `env:${variable}`, secret: apiKey }]
}

/** How the next key of a provider is chosen. */
export function poolStrategy(config: HermesConfig, provider: string): PoolStrategy {
  const strategies = config.credential_pool_strategies
  const name = [provider, poolName(provider)].find((candidate) => Object.hasOwn(strategies, candidate))
  const word = name === undefined ? 'fill_first' : strategies[name]!
  return STRATEGIES[word]
}

const STRATEGIES = {
  fill_first: 'fill-first',
  round_robin: 'round-robin',
  least_used: 'least-used',
  random: 'random',
} as const

/** How to log in at a provider, as config.yaml says; `null` without a client id. */
export function oauthSettings(config: HermesConfig, provider: string): OAuthSettings | null {
  const id = findProvider(provider)?.id
  const name = Object.keys(config.providers).find((key) => key === provider || findProvider(key)?.id === (id ?? ''))
  const settings = name === undefined ? undefined : config.providers[name]!.oauth
  if (!settings?.client_id) return null
  return {
    clientId: settings.client_id,
    clientSecret: settings.client_secret,
    issuer: settings.issuer,
    scope: settings.scope,
    deviceAuthorizationEndpoint: settings.device_authorization_endpoint,
    authorizationEndpoint: settings.authorization_endpoint,
    tokenEndpoint: settings.token_endpoint,
    redirectPort: settings.redirect_port,
  }
}
