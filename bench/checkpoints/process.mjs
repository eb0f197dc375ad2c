// node process.mjs '{"root":…,"store":…,"restore"?:…,"bare"?:true}': takes a checkpoint, or goes back to one, and prints how long that took
// and how long the event loop was held. With `bare` the facts of each file are asked for, and nothing else is done.
import { lstatSync, readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const { createCheckpoints } = await import('../../packages/checkpoints/src/index.ts')
const { createPermit } = await import('../../packages/safety/src/index.ts')

const { root, store, restore, bare } = JSON.parse(process.argv[2])
const checkpoints = createCheckpoints({ directory: store ?? root })
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const startMs = performance.now()
if (bare) look(root)
else if (restore === undefined)
  await checkpoints.take(root, { kind: 'automatic', reason: 'bench', runId: `${process.pid}` })
else {
  const permit = createPermit({ type: 'write', path: root, operation: 'write', backend: 'local' })
  await checkpoints.restore(permit, root, { wanted: restore, force: true })
}
const ms = performance.now() - startMs
delay.disable()
console.log(JSON.stringify({ ms, heldMs: delay.max / 1e6 }))

function look(folder) {
  for (const name of readdirSync(folder)) if (lstatSync(`${folder}/${name}`).isDirectory()) look(`${folder}/${name}`)
}
