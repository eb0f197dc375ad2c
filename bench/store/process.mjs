// One process of the store's bench, started with the sources: node process.mjs JOB PATH [OPTIONS as JSON]. Prints one line of JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCorpus, createRandom, toEntry } from './corpus.mjs'
import { measureSearches, percentile, timed } from './measure-searches.mjs'
import { drawQueries } from './queries.mjs'

const [job, path, json = '{}'] = process.argv.slice(2)
const options = JSON.parse(json)
const { openStorage } = await import('../../packages/storage/src/index.ts')
if (job === 'open') await (await openStorage({ path: `${path}.small` })).close()
const startedAtMs = performance.now()
const store = await openStorage({ path })
const openMs = performance.now() - startedAtMs
const JOBS = { make: () => null, build, append, open, search, longWord, recall }
console.log(JSON.stringify(await JOBS[job]()))
await store.close()

/** The corpus, in through the store's own door. */
async function build() {
  let last = ''
  for (const session of createCorpus(options.messages)) {
    await store.sessions.create({ id: session.id, source: session.source })
    const lease = await store.leases.acquire(session.id, { owner: 'bench' })
    for (const message of session.messages)
      await store.log.append(session.id, [toEntry(message)], { lease, atMs: message.atMs })
    await lease.release()
    // Appends alone never let a timer have its turn, and the index goes by one.
    await sleep(0)
    last = session.id
  }
  await store.search.find('x')
  return { last }
}

/** `count` messages, each on its own and awaited; `perSecond` slows it down, `forMs` ends it. */
async function append() {
  const { session, count, perSecond, forMs = Infinity } = options
  await store.sessions.create({ id: session, source: 'cli' })
  const lease = await store.leases.acquire(session, { owner: session })
  const text = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(8)
  const waits = []
  let errors = 0
  const beginMs = performance.now()
  for (let i = 0; i < count && performance.now() - beginMs < forMs; i++) {
    if (perSecond) await sleep(1_000 / perSecond)
    const fromMs = performance.now()
    await store.log
      .append(
        session,
        [{ type: 'message', message: { role: 'user', content: [{ type: 'text', text: `${i} ${text}` }] } }],
        { lease },
      )
      .catch(() => errors++)
    waits.push(performance.now() - fromMs)
  }
  const seconds = (performance.now() - beginMs) / 1_000
  const stored = (await store.log.entries(session)).length
  return {
    perSecond: waits.length / seconds,
    p99: percentile(waits, 0.99),
    errors,
    lost: waits.length - errors - stored,
  }
}

/** How long it takes to open the file, to list sessions and to read the newest. */
async function open() {
  const listed = await timed(() => store.sessions.list())
  const [newest] = listed.result
  const resumed = await timed(() => store.log.entries(newest.id))
  const again = await timed(() => store.sessions.list())
  return { openMs, listMs: again.ms, resumeMs: resumed.ms }
}

/** Searches of every kind, and the longest time nothing else could run. */
async function search() {
  const queries = drawQueries(path, { random: createRandom(7), each: options.each })
  await store.search.find('warm')
  const firstPart = await timed(() => store.search.find('*arm*'))
  return { ...(await measureSearches(store, queries)), firstPartMs: firstPart.ms }
}

/** How long one word of 1 MB holds everything else: its words for each dialect. */
async function longWord() {
  const { toIndexText } = await import('../../packages/storage/src/shared/index-text.ts')
  const { messageWords } = await import('../../packages/storage/src/postgres/search/words.ts')
  const shapes = ['acgt', 'aB', 'é', 'acgtB7'].map((letters) => `getUser ${letters.repeat(1e6 / letters.length)}`)
  const worst = async (make) => {
    const runs = []
    for (const content of shapes) {
      const message = { role: 'tool', content, tool_name: null, tool_calls: null, session_id: 'long', source: 'cli' }
      await timed(() => make(message))
      runs.push((await timed(() => make(message))).ms)
    }
    return Math.max(...runs)
  }
  return { fileMs: await worst(toIndexText), serverMs: await worst(messageWords) }
}

/** How often the session with the answer is among the first five. */
async function recall() {
  const { measureRecall } = await import('../../packages/storage/src/__fixtures__/recall.ts')
  return measureRecall(store, { pairs: 10, days: 30 })
}
