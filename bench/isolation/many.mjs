// node many.mjs '{"directory":…,"rounds":…}': opens 50 isolated environments that share what a home shares and runs the first command of each at
// once, beside 50 bare spawns at once, taking turns; prints the 95th percentile of each round in milliseconds, and how long the event loop was held at most.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const { createIsolationSupport, createLocalEnvironment } = await import('../../packages/sandbox/src/index.ts')
const { createPermit } = await import('../../packages/safety/src/index.ts')

const SESSIONS = 50
const { directory, rounds } = JSON.parse(process.argv[2])
const PATH = '/usr/local/bin:/usr/bin:/bin'
const [cwd, home, outputDir] = ['work', 'home', 'output'].map((part) => join(directory, part))
for (const folder of [cwd, home, outputDir]) mkdirSync(folder, { recursive: true })
const login = { shared: new Map() }
const isolation = { support: createIsolationSupport() }
const open = () => createLocalEnvironment({ cwd, home, outputDir, env: { PATH, HOME: home }, isolation, login })

async function bare() {
  await once(spawn('/bin/bash', ['--norc', '--noprofile', '-c', 'true'], { env: { PATH }, stdio: 'ignore' }), 'exit')
}

async function first(environment) {
  const permit = createPermit({ type: 'spawn', command: 'true', cwd, backend: 'local' })
  const { exitCode } = await environment.exec(permit, 'true')
  if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`)
}

/** Starts all of them at once. Gives the 95th percentile of how long each took, in milliseconds. */
async function atOnce(runs) {
  const startMs = performance.now()
  const took = await Promise.all(runs.map((run) => run().then(() => performance.now() - startMs)))
  return took.toSorted((a, b) => a - b)[Math.ceil(took.length * 0.95) - 1]
}

const samples = { bare: [], isolated: [], held: [] }
const delay = monitorEventLoopDelay({ resolution: 1 })
// The first round reads what the later ones remember.
for (let round = 0; round <= rounds; round++) {
  const bareMs = await atOnce(Array.from({ length: SESSIONS }, () => bare))
  const environments = Array.from({ length: SESSIONS }, open)
  delay.reset()
  delay.enable()
  const isolatedMs = await atOnce(environments.map((environment) => () => first(environment)))
  delay.disable()
  await Promise.all(environments.map((environment) => environment.close()))
  if (round === 0) continue
  samples.bare.push(bareMs)
  samples.isolated.push(isolatedMs)
  samples.held.push(delay.max / 1e6)
}
console.log(JSON.stringify(samples))
