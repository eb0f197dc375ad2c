// node process.mjs '{"mode":…,"port":…,"rounds":…}': measures the tools of the browser as a session calls them, and prints JSON.

import { memoryOf, memoryOfProcess } from './memory.mjs'
import { DONE, doTask } from './shop.mjs'

const { mode, port, rounds } = JSON.parse(process.argv[2])
const { openScene } = await import('../../packages/browser/src/__fixtures__/scene.ts')
const SESSIONS = 50

const at = (path) => `http://site.test:${port}${path}`
const find = (text, role, name) => new RegExp(`\\[(e\\d+)\\] (?:${role} )?"${name}"`).exec(text)?.[1]
const start = performance.now()
const scene = await openScene()
const navigate = (path, session) => scene.call('browser_navigate', { url: at(path) }, session)

async function timed(work) {
  const from = performance.now()
  const text = await work()
  return { ms: performance.now() - from, bytes: Buffer.byteLength(text) }
}

/** Looks at one list again and again, and puts things of it into the cart. */
async function list(path) {
  // A session of its own: what the page before it showed is not shown again.
  const call = (name, args = {}) => scene.call(name, args, path)
  const shown = await navigate(path, path)
  const looks = []
  const clicks = []
  for (let round = 0; round < rounds * 3; round++) looks.push(await timed(() => call('browser_snapshot')))
  for (let number = 1; number <= Math.min(10, rounds); number++) {
    const ref = find(await call('browser_snapshot', { find: `Add ${number}` }), 'button', `Add ${number}`)
    clicks.push(await timed(() => call('browser_click', { ref })))
  }
  const only = (samples, key) => samples.map((one) => one[key])
  return {
    shown: [Buffer.byteLength(shown)],
    looks: only(looks, 'ms'),
    clicks: only(clicks, 'ms'),
    clickBytes: only(clicks, 'bytes'),
  }
}

/** A page for each of many sessions, and one more look at the first, which slept. */
async function many() {
  const before = memoryOfProcess(process.pid)
  let peak = 0
  for (let session = 0; session < SESSIONS; session++) {
    await navigate('/list/60', `s${session}`)
    peak = Math.max(peak, memoryOf(scene.pid) + memoryOfProcess(process.pid) - before)
  }
  const awake = scene.sessions.list().filter(([, session]) => session.isAwake).length
  if (!(await scene.call('browser_snapshot', {}, 's0')).includes('Sixty')) throw new Error('s0 lost its page')
  return { peak, awake, browser: memoryOf(scene.pid) }
}

const calling = (name, args) => scene.call(name, args).then((text) => ({ sent: { name, args }, text }))
const MODES = {
  async cold() {
    await navigate('/list/60')
    return { coldMs: performance.now() - start }
  },
  async lists() {
    return { sixty: await list('/list/60'), thousands: await list('/list/2000') }
  },
  many,
  async shop() {
    const tokens = await doTask({
      open: () => calling('browser_navigate', { url: at('/') }),
      find,
      act: ({ type, ref, text }) =>
        type === 'click' ? calling('browser_click', { ref }) : calling('browser_type', { ref, text }),
      look: (name) => calling('browser_snapshot', { find: name === DONE ? 'order' : name }),
    })
    return { tokens }
  },
}
const result = await MODES[mode]()
process.stdout.write(JSON.stringify(result))
await scene[Symbol.asyncDispose]()
