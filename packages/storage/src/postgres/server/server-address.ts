import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { HermesError } from '@hermes/contracts'
import { readUrl, shownAs } from './store-url.js'

/** Where a database is, and who asks. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string | null
  /** `false` for a connection that is not encrypted. */
  readonly ssl: ConnectionOptions | false
  /** Further settings of the session, as `options=-c name=value` has them. */
  readonly options: string | undefined
  /** The address for people: without the password. */
  readonly shown: string
}

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. `?host=/folder` is a socket; `sslmode` `require`, `verify-ca` and `verify-full`
 * encrypt and check the certificate of the server, `no-verify` only encrypts; `sslrootcert`, `sslcert` and `sslkey` name files; `options`
 * is passed on.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 * @throws HermesError `store.bad_url`, without the url: it may hold a password.
 */
export function readServerAddress(url: string): ServerAddress {
  const { host, port, database, user, password, parameters, fault } = readUrl(url)
  if (fault !== null) throw badUrl(fault)
  return {
    ...{ host, port, database, user, password },
    ssl: encryption(parameters),
    options: parameters.get('options') ?? undefined,
    shown: shownAs({ host, port, database, user }),
  }
}

function encryption(parameters: URLSearchParams): ConnectionOptions | false {
  const mode = parameters.get('sslmode') ?? 'disable'
  const file = (name: string) => {
    const path = parameters.get(name)
    try {
      return path === null ? undefined : readFileSync(path, 'utf8')
    } catch {
      throw badUrl(`names a file that cannot be read: ${name}=${path}`)
    }
  }
  switch (mode) {
    case 'disable':
      return false
    case 'no-verify':
    case 'require':
    case 'verify-ca':
    case 'verify-full': {
      const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
      return { rejectUnauthorized: mode !== 'no-verify', ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
    }
    default:
      throw badUrl(`has an sslmode that is not known: ${mode}; take disable, no-verify, require or verify-full`)
  }
}

function badUrl(what: string): HermesError {
  return new HermesError(`The url of the store ${what}.`, { code: 'store.bad_url' })
}
