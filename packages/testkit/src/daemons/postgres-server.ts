import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram, freePort, missingPrograms } from './programs.js'

const run = promisify(execFile)
/** Where Debian keeps the programs of each version. */
const VERSIONS = '/usr/lib/postgresql'

/** A real PostgreSQL on a socket and a loopback port, for tests: what it commits survives its own end, no crash of the machine. */
export interface PostgresServer {
  readonly port: number
  /** The certificate of the server, which has signed it itself. It encrypts whoever asks for that. */
  readonly certificate: string
  /** An address of a database, for its superuser `hermes`, or for another user with a password. */
  url(database: string, as?: { readonly user: string; readonly password: string }): string
  /** The same for the superuser by way of the socket, where nobody computes a proof of a password. */
  socketUrl(database: string): string
  /** Runs statements as superuser; resolves to what psql prints without headers. */
  sql(statements: string, database?: string): Promise<string>
  /** Makes a database, empty or as a copy of `template`, which nobody may be connected to. */
  createDatabase(name: string, template?: string): Promise<void>
  /** Ends every connection at once and takes no more until {@link start}. */
  halt(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes its files. */
  stop(): Promise<void>
}

/** What keeps {@link startPostgresServer} from working here; `null` when nothing does. */
export function postgresMissing(): string | null {
  if (programs() === null) return 'not installed: postgresql'
  const missing = missingPrograms('psql', 'openssl')
  if (missing !== null) return missing
  return process.getuid?.() === 0 && serverUser() === null ? 'no user "postgres" to run the server as' : null
}

/** Starts a server with a new, empty cluster; takes a second. @throws when it is missing or does not start. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = programs()
  if (folder === null) throw new Error('PostgreSQL is not installed.')
  const directory = await mkdtemp('/tmp/hermes-postgres-')
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? serverUser() : null
  if (user) await chown(directory, user.uid, user.gid)
  const [data, env] = [join(directory, 'data'), { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: directory }]
  const cluster = ['--pgdata', data, '--username', 'hermes', '--encoding', 'UTF8', '--locale', 'C.UTF-8']
  await run(
    join(folder, 'initdb'),
    [...cluster, '--auth-local', 'trust', '--auth-host', 'scram-sha-256', '--no-sync'],
    {
      env,
      cwd: directory,
      ...user,
    },
  )
  const certificate = join(directory, 'server.crt')
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    join(data, 'server.key'),
  ]
  const files = { env, cwd: directory, ...user }
  await run('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, '-out', certificate], files)
  let server = await startServer(folder, { directory, env, user, port: 0 })
  const { port } = server
  const sql = async (statements: string, database = 'postgres') => {
    const args = [
      '--host',
      directory,
      '--port',
      String(port),
      '--username',
      'hermes',
      '--dbname',
      database,
      '--no-psqlrc',
      '--quiet',
      '-At',
    ]
    return (await run('psql', [...args, '-v', 'ON_ERROR_STOP=1', '--command', statements], { env })).stdout.trim()
  }
  await sql("ALTER ROLE hermes PASSWORD 'hermes'")
  return {
    port,
    certificate,
    url: (database, as = { user: 'hermes', password: 'hermes' }) =>
      `postgres://${as.user}:${encodeURIComponent(as.password)}@127.0.0.1:${port}/${database}`,
    socketUrl: (database) => `postgres://hermes@localhost:${port}/${database}?host=${directory}`,
    sql,
    createDatabase: async (name, template = 'template1') =>
      void (await sql(`CREATE DATABASE "${name}" TEMPLATE "${template}"`)),
    halt: () => server.end(),
    start: async () => {
      server = await startServer(folder, { directory, env, user, port })
    },
    stop: async () => {
      await server.end()
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Cluster {
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly user: { readonly uid: number; readonly gid: number } | null
  /** 0 for any that is free. */
  readonly port: number
}

async function startServer(folder: string, { directory, env, user, port: wanted }: Cluster) {
  const port = wanted === 0 ? await freePort() : wanted
  const unsafe = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB']
  const settings = [
    ...unsafe,
    'ssl=on',
    `ssl_cert_file=${join(directory, 'server.crt')}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    'max_connections=60',
  ]
  const args = ['-D', join(directory, 'data'), '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(folder, 'postgres'), args, {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  })
  await ready(server.stderr, server)
  const end = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    // At once, without waiting for those who are connected.
    server.kill('SIGQUIT')
    await ended
  }
  return { port, end }
}

function ready(stderr: NodeJS.ReadableStream, server: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000)
      if (text.includes('ready to accept connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${text}`)))
  })
}

/** The folder with the newest server; Debian has none of these programs on the path. */
function programs(): string | null {
  const onPath = findProgram('initdb')
  if (onPath !== null) return onPath.slice(0, -'/initdb'.length)
  try {
    const newest = readdirSync(VERSIONS).sort((left, right) => Number(right) - Number(left))[0]
    return newest === undefined ? null : join(VERSIONS, newest, 'bin')
  } catch {
    return null
  }
}

function serverUser(): { readonly uid: number; readonly gid: number } | null {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }))
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return null
  }
}
