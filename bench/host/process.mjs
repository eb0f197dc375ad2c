// node --expose-gc process.mjs '{"home":…,"cwd":…,"baseUrl":…,"calls":50}': what sessions of a host take in this process, and what the readers
// of one cost beside its run, as JSON.
import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

const { openRuntime } = await import('../../packages/runtime/src/index.ts')
const { createSessionHost } = await import('../../packages/host/src/index.ts')
const { EventBus } = await import('../../packages/host/src/event-bus.ts')

const SESSIONS = 1_000
const READERS = 10
const WARM_UP = 50
/** How often the events of a run are published anew: once is too short to be measured. */
const REPLAYS = 20
const { home, cwd, baseUrl, calls } = JSON.parse(process.argv[2])

const env = { PATH: process.env.PATH }
const runtime = await openRuntime({ home, userHome: home, cwd, tempDir: home, user: 'bench', env, yolo: true })
const host = createSessionHost({ runtime, leavesJobs: true })
const open = () => host.open({ platform: 'cli', permissions: 'approve', model: 'bench', baseUrl })

/** What the process holds. The first session opened the store, which all of them share. */
async function held() {
  for (let times = 0; times < 3; times++) {
    await setImmediate()
    globalThis.gc({ type: 'major', flavor: 'last-resort' })
  }
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
  const handles = readdirSync('/proc/self/fd').length
  const { rss, heapUsed, external } = process.memoryUsage()
  return { mb: rss / 1e6, liveMb: (heapUsed + external) / 1e6, open: handles + children.length }
}

/** Processor time in milliseconds until `done` resolves. */
async function cpuOf(done) {
  const before = process.cpuUsage()
  await done()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Publishes the events one by one, as a run does, each to all readers before the next one. */
async function replay(events, readers) {
  const bus = new EventBus()
  const reading = Array.from({ length: readers }, () => bus.read({ sessionId: 's' }))
  const read = reading.map(async (reader) => {
    for await (const { event } of reader) if (event.type === 'run-end') return
  })
  for (const event of events) {
    bus.publish('s', event)
    await setImmediate()
  }
  await Promise.all(read)
}

await open().agent()
const before = await held()
// Such a collection takes compiled code away too.
for (let count = 0; count < WARM_UP; count++) {
  const session = open()
  await session.agent()
  await session.end('bench')
  session.close()
}
const startedMs = performance.now()
const handles = Array.from({ length: SESSIONS }, open)
const openedMs = performance.now() - startedMs
const agentsMs = await cpuOf(async () => {
  for (const handle of handles) await handle.agent()
})
const after = await held()

const run = async (session) => {
  const { status } = await session.send('Read them.').result
  if (status !== 'completed') throw new Error(`the run ended as ${status}`)
}
for (let count = 0; count < 3; count++) await run(open())
const session = open()
const reader = await session.subscribe()
const runMs = await cpuOf(() => run(session))
const events = []
for await (const { event } of reader) {
  events.push(event)
  if (event.type === 'run-end') break
}

/** Of one replay, in milliseconds of processor time. */
async function costOf(once) {
  await once()
  const ms = await cpuOf(async () => {
    for (let time = 0; time < REPLAYS; time++) await once()
  })
  return ms / REPLAYS
}
const ticks = await costOf(async () => {
  for (const _ of events) await setImmediate()
})
const [none, one, ten] = [
  await costOf(() => replay(events, 0)),
  await costOf(() => replay(events, 1)),
  await costOf(() => replay(events, READERS)),
]
await host.close()
await runtime.close()
process.stdout.write(
  JSON.stringify({
    openedMs,
    agentsMs,
    mb: after.mb - before.mb,
    liveMb: after.liveMb - before.liveMb,
    left: after.open - before.open,
    readersPercent: (100 * Math.max(0, ten - none)) / runMs,
    busMs: Math.max(0, one - ticks) / calls,
  }),
)
