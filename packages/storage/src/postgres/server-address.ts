import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { HermesError } from '@hermes/contracts'

const DEFAULT_PORT = 5432
const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'

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

/** A url of a store for people, and the password in it, which is for nobody. Never throws. */
export function describeStoreUrl(url: string): { readonly shown: string; readonly password: string | null } {
  const read = readUrl(url)
  return { shown: read.fault === null ? shownAs(read) : 'the url of the store', password: read.password }
}

function readUrl(url: string) {
  const given = URL.parse(url)
  const { protocol, username, password, hostname, port, pathname, searchParams: parameters } = given ?? new URL('none:')
  const user = plain(username) || parameters.get('user') || ''
  return {
    user,
    password: plain(password) || parameters.get('password') || null,
    host: parameters.get('host') || plain(hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost',
    port: Number(parameters.get('port') || port || DEFAULT_PORT),
    database: plain(pathname.slice(1)) || user,
    parameters,
    fault: !/^postgres(?:ql)?:$/.test(protocol)
      ? `is no address of a PostgreSQL database (${FORM})`
      : user === ''
        ? `names no user (${FORM})`
        : null,
  }
}

function shownAs({ host, port, database, user }: Pick<ServerAddress, 'host' | 'port' | 'database' | 'user'>): string {
  return host.startsWith('/') ? `${database} in ${host}` : `postgres://${user}@${host}:${port}/${database}`
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

/** Passwords often hold a `%` that nobody encoded. */
function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function badUrl(what: string): HermesError {
  return new HermesError(`The url of the store ${what}.`, { code: 'store.bad_url' })
}
