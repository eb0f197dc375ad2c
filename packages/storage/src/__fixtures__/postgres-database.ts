import { type PostgresServer, startPostgresServer } from '@hermes/testkit/daemons'
import pg from 'pg'
import { openStorage, type PostgresOptions, type Storage } from '../index.js'

const TABLES = ['sessions', 'state_meta', 'hermes_usage', 'hermes_holds', 'hermes_audit', 'hermes_approvals', 'hermes_learnings', 'hermes_jobs', 'hermes_outbox']
const EMPTY = [...TABLES.map((table) => `DELETE FROM ${table}`), 'UPDATE hermes_audit_counted SET seq = 0'].join(';')

/** A server with one database for tests that follow each other; to make one for each would take a second. */
export interface PostgresDatabase {
  readonly server: PostgresServer
  /** Of the database all stores are in. */
  readonly url: string
  /** The url of the store, with nothing in it. */
  emptied(): Promise<string>
  open(options?: Omit<PostgresOptions, 'url'>): Promise<Storage>
  stop(): Promise<void>
}

/** Starts a server; takes some seconds. */
export async function startDatabase(): Promise<PostgresDatabase> {
  const server = await startPostgresServer()
  await server.createDatabase('store')
  const url = server.socketUrl('store')
  await (await openStorage({ url })).close()
  const { pathname, port, searchParams } = new URL(url)
  const sweeper = new pg.Client({ host: searchParams.get('host')!, port: Number(port), user: 'hermes', database: pathname.slice(1) })
  await sweeper.connect()
  const emptied = async () => {
    await sweeper.query(EMPTY)
    return url
  }
  const stop = async () => {
    await sweeper.end()
    await server.stop()
  }
  return { server, url, emptied, open: async (options) => openStorage({ url: await emptied(), ...options }), stop }
}
