import { type PostgresServer, startPostgresServer } from '@hermes/testkit/daemons'
import { openStorage, type PostgresOptions, type Storage } from '../index.js'

const TEMPLATE = 'made'

/** A server with databases for tests: each is a copy of one that has the tables already. */
export interface PostgresDatabases {
  readonly server: PostgresServer
  /** The url of a store of its own, with nothing in it. */
  url(): Promise<string>
  open(options?: Omit<PostgresOptions, 'url'>): Promise<Storage>
  stop(): Promise<void>
}

/** Starts a server; takes a second or two. */
export async function startDatabases(): Promise<PostgresDatabases> {
  const server = await startPostgresServer()
  await server.createDatabase(TEMPLATE)
  await (await openStorage({ url: server.url(TEMPLATE) })).close()
  let made = 0
  const url = async () => {
    const name = `store${++made}`
    await server.createDatabase(name, TEMPLATE)
    return server.url(name)
  }
  return { server, url, open: async (options) => openStorage({ url: await url(), ...options }), stop: () => server.stop() }
}
