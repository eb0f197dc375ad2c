// The store on a PostgreSQL of its own, with the corpus of the file at PATH: node server.mjs PATH OPTIONS as JSON. Prints one line of
// JSON: `{ missing }` where there is no such server, else the times of searches.
import { createCorpus, createRandom, toEntry } from './corpus.mjs'
import { measureSearches } from './measure-searches.mjs'
import { drawQueries } from './queries.mjs'

/** What is searched for by people and by `session_search`; the rest has its figures on a file. */
const KINDS = ['word', 'phrase', 'question']

const { postgresMissing, startPostgresServer } = await import('../../packages/testkit/src/daemons/index.ts')
const [path, json] = process.argv.slice(2)
const missing = postgresMissing()
console.log(JSON.stringify(missing === null ? await measure(JSON.parse(json)) : { missing }))

async function measure({ messages, each }) {
  const server = await startPostgresServer()
  try {
    await server.createDatabase('store')
    const { openStorage } = await import('../../packages/storage/src/index.ts')
    const store = await openStorage({ url: server.url('store') })
    await build(store, messages)
    // As the server does by itself after a while.
    await server.sql('VACUUM ANALYZE', 'store')
    const queries = drawQueries(path, { random: createRandom(7), each })
    await store.search.find('warm')
    const figures = await measureSearches(store, Object.fromEntries(KINDS.map((kind) => [kind, queries[kind]])))
    await store.close()
    return figures
  } finally {
    await server.stop()
  }
}

/** A session at a time, which is quicker than a message at a time and leaves the same rows. */
async function build(store, messages) {
  for (const session of createCorpus(messages)) {
    await store.sessions.create({ id: session.id, source: session.source })
    const lease = await store.leases.acquire(session.id, { owner: 'bench' })
    await store.log.append(session.id, session.messages.map(toEntry), { lease, atMs: session.messages.at(-1).atMs })
    await lease.release()
  }
}
