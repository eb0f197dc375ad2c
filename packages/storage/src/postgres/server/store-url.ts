const DEFAULT_PORT = 5432
const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'

/** What tells one database from another. */
interface AddressParts {
  /** A folder is that of a socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/** A url of a store for people, and the password in it, which is for nobody. Never throws. */
export function describeStoreUrl(url: string): { readonly shown: string; readonly password: string | null } {
  const read = readUrl(url)
  return { shown: read.fault === null ? shownAs(read) : 'the url of the store', password: read.password }
}

/** The parts of a url; `fault` says what is wrong with it. Never throws. */
export function readUrl(url: string) {
  const input = URL.parse(url)
  const { protocol, username, password, hostname, port, pathname, searchParams: parameters } = input ?? new URL('none:')
  const user = plain(username) || parameters.get('user') || ''
  return {
    user,
    password: plain(password) || parameters.get('password') || null,
    host: parameters.get('host') || plain(hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost',
    port: Number(parameters.get('port') || port || DEFAULT_PORT),
    database: plain(pathname.slice(1)) || user,
    parameters,
    fault: faultOf(protocol, user),
  }
}

function faultOf(protocol: string, user: string): string | null {
  if (!/^postgres(?:ql)?:$/.test(protocol)) return `is no address of a PostgreSQL database (${FORM})`
  return user === '' ? `names no user (${FORM})` : null
}

/** An address for people: without the password. */
export function shownAs({ host, port, database, user }: AddressParts): string {
  return host.startsWith('/') ? `${database} in ${host}` : `postgres://${user}@${host}:${port}/${database}`
}

/** Passwords often hold a `%` that nobody encoded. */
function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
