import { type HermesConfig, homeLayout, loadConfig, loadSecrets } from '@hermes/config'
import {
  type BorrowedKey,
  type CredentialPool,
  type CredentialStore,
  openCredentialPool,
  openCredentialStore,
} from '@hermes/credential-pool'
import { borrowedKeys, chooseModel, configuredModels, oauthSettings, plainName, poolName } from '@hermes/runtime'
import { absentProvider, findProvider, PROVIDERS, similarProviders } from '@hermes/transports'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { fetchTo } from '../setup/endpoint.js'

/** The keys and logins of a home, as `hermes auth` sees them. */
export interface AuthHome {
  /** `auth.json`. */
  readonly path: string
  readonly config: HermesConfig
  readonly store: CredentialStore
  /** The pool of one provider, for what takes its server: renewing a login. */
  pool(provider: NamedProvider): CredentialPool
}

/** A provider as a person names it and as `auth.json` does. */
export interface NamedProvider {
  /** The id, or the name of an endpoint of config.yaml. */
  readonly name: string
  /** The name in `auth.json`. */
  readonly pool: string
  /** For people. */
  readonly title: string
}

/** Opens them; what is wrong with the files is said once on stderr. */
export async function openAuthHome(io: Io): Promise<AuthHome> {
  const home = homeOf(io)
  const [{ config, problems }, { values: secrets, problems: more }] = await Promise.all([
    loadConfig({ home, env: io.env }),
    loadSecrets({ home, env: io.env }),
  ])
  for (const problem of [...problems, ...more]) io.stderr.write(`hermes: ${problem.message}\n`)
  const path = homeLayout(home).auth
  const onProblem = (line: string) => void io.stderr.write(`hermes: ${line}\n`)
  return {
    path,
    config,
    store: openCredentialStore({ path, borrowed: borrowedByPool(config, secrets), onProblem }),
    pool: ({ pool, name }) =>
      openCredentialPool({
        path,
        provider: pool,
        oauth: oauthSettings(config, name),
        fetchTo: (address) => fetchTo(address, io.env),
        onProblem,
      }),
  }
}

/** The keys that environment, `.env` and config.yaml hold, by provider. */
function borrowedByPool(
  config: HermesConfig,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly BorrowedKey[]>> {
  const configured = configuredModels(config)
  const names = [...PROVIDERS.map(({ id }) => id), ...Object.keys(configured.endpoints)]
  const found = names.map((name): [string, readonly BorrowedKey[]] => {
    try {
      // Which model is asked makes no difference to the key.
      const choice = chooseModel({ requested: { provider: name, model: 'any' }, session: null, ...configured, secrets })
      return [poolName(name), borrowedKeys(choice, secrets)]
    } catch {
      // An entry that cannot be used lends no key; what is wrong with it is told where a model is chosen.
      return [poolName(name), []]
    }
  })
  return Object.fromEntries(found)
}

/**
 * The provider a person names: an id or alias, an endpoint of config.yaml, or what `auth.json` has.
 * @throws UsageError naming the nearest
 */
export async function findNamed({ config, store }: AuthHome, wanted: string): Promise<NamedProvider> {
  const { endpoints } = configuredModels(config)
  const own = Object.entries(endpoints).flatMap(([id, { aliases = [] }]) => [id, ...aliases])
  const name = plainName(wanted, endpoints)
  if (findProvider(wanted) || Object.hasOwn(endpoints, name))
    return named(findProvider(wanted) ? poolName(wanted) : poolName(name))
  const stored = await store.providers()
  if (stored.includes(wanted)) return named(wanted)
  const absent = absentProvider(wanted)
  if (absent !== null) throw new UsageError(`Hermes does not offer the provider ${wanted}: ${absent}`)
  const meant = similarProviders(wanted, own)
  const hint =
    meant.length > 0
      ? `Did you mean ${meant.join(' or ')}?`
      : `Valid providers: ${[...own, ...PROVIDERS.map(({ id }) => id)].join(', ')}.`
  throw new UsageError(`Unknown provider "${wanted}". ${hint}`)
}

/** A provider by its name in `auth.json`. */
export function named(pool: string): NamedProvider {
  const name = pool.replace(/^custom:/, '')
  return { name, pool, title: findProvider(pool)?.name ?? name }
}
