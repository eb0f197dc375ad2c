// An agent that hands out tasks until it has heard of all of them; it may be killed and started again at any time. Time runs a hundred
// times as fast for it, so that a child without progress is noticed while a test waits. Ends every child whose goal begins with "kill".
import { openRuntime } from '@hermes/runtime'

const FACTOR = 100
const EPOCH_MS = 1_760_000_000_000

const clock = {
  now: () => EPOCH_MS + (Date.now() - EPOCH_MS) * FACTOR,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const timer = setTimeout(resolve, ms / FACTOR)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    }),
}

const { home, cwd, path } = JSON.parse(process.argv[2])
const world = { userHome: cwd, env: { PATH: path }, cwd, user: 'u', tempDir: cwd, yolo: true }
const runtime = await openRuntime({ home, ...world, clock })
const session = await (await runtime.storage()).sessions.get('parent')
const { agent, children } = await runtime.createAgent(session ? { session } : { sessionId: 'parent' })

children.watch(({ id, goal, toolCalls, endedAtMs }) => {
  if (goal.startsWith('kill') && toolCalls > 0 && endedAtMs === null) children.kill(id)
})

/** Resolves when a task has ended, at once when none is at work. */
function news() {
  return new Promise((resolve) => {
    if (children.list().every(({ endedAtMs }) => endedAtMs !== null)) return resolve()
    const stop = children.watch(({ endedAtMs }) => {
      if (endedAtMs === null) return
      stop()
      resolve()
    })
  })
}

let input = session && session.messageCount > 0 ? { resume: true } : 'Hand out.'
for (;;) {
  const { status, text, error } = await agent.run(input).result
  process.stdout.write(`${JSON.stringify({ status, text, error: error?.message })}\n`)
  if (text === 'All heard.') break
  await news()
  input = { resume: true }
}
await runtime.close()
