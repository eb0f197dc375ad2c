// node bare.mjs PROGRAM URL CONTEXTS: what Chromium itself costs, spoken to on its pipe without anything between. Prints JSON: the time from its
// start to the accessibility tree of the page, and its memory with the page in as many contexts.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryOf } from './memory.mjs'

const [, , program, url, contexts] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'hermes-bare-'))
const start = performance.now()
const options = [
  '--headless=new',
  '--no-sandbox',
  '--no-first-run',
  '--remote-debugging-pipe',
  '--disable-dev-shm-usage',
]
const env = { ...process.env, TMPDIR: folder }
const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']
const child = spawn(program, [...options, `--user-data-dir=${folder}`, 'about:blank'], { stdio, env, detached: true })
const waiting = new Map()
const loaded = new Map()
let next = 1
let rest = Buffer.alloc(0)
child.stdio[4].on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk])
  for (let at = rest.indexOf(0); at >= 0; at = rest.indexOf(0)) {
    const { id, result, method, sessionId } = JSON.parse(rest.subarray(0, at).toString())
    rest = rest.subarray(at + 1)
    waiting.get(id)?.(result)
    if (method === 'Page.loadEventFired') loaded.get(sessionId)?.()
  }
})
const call = (method, params = {}, sessionId = undefined) =>
  new Promise((resolve) => {
    const id = next++
    waiting.set(id, resolve)
    child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
  })

async function openPage() {
  const { browserContextId } = await call('Target.createBrowserContext')
  const { targetId } = await call('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
    width: 1280,
    height: 800,
  })
  const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
  await call('Page.enable', {}, sessionId)
  const isLoaded = new Promise((resolve) => loaded.set(sessionId, resolve))
  await call('Page.navigate', { url }, sessionId)
  await isLoaded
  await call('Accessibility.getFullAXTree', {}, sessionId)
}

await openPage()
const coldMs = performance.now() - start
for (let more = 1; more < Number(contexts); more++) await openPage()
process.stdout.write(JSON.stringify({ coldMs, mb: memoryOf(child.pid) }))
process.kill(-child.pid, 'SIGKILL')
child.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
