// node process.mjs '{"directory":…,"rounds":…}': runs `true` many times as a bare spawn, by the local environment and isolated, taking
// turns, and prints the milliseconds of each.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const { createLocalEnvironment } = await import('../../packages/sandbox/src/index.ts')
const { createPermit } = await import('../../packages/safety/src/index.ts')

const { directory, rounds } = JSON.parse(process.argv[2])
const PATH = '/usr/local/bin:/usr/bin:/bin'
const open = (name, isolation) => {
  const [cwd, home, outputDir] = ['work', 'home', 'output'].map((part) => join(directory, name, part))
  for (const folder of [cwd, home, outputDir]) mkdirSync(folder, { recursive: true })
  return createLocalEnvironment({ cwd, home, outputDir, env: { PATH, HOME: home }, ...isolation })
}
const plain = open('plain', {})
const isolated = open('isolated', { isolation: {} })
const exec = async (environment) => {
  const permit = createPermit({ type: 'spawn', command: 'true', cwd: environment.cwd(), backend: 'local' })
  const { exitCode } = await environment.exec(permit, 'true')
  if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`)
}
const ways = {
  bare: async () =>
    once(spawn('/bin/bash', ['--norc', '--noprofile', '-c', 'true'], { env: { PATH }, stdio: 'ignore' }), 'exit'),
  plain: () => exec(plain),
  isolated: () => exec(isolated),
}
for (const run of Object.values(ways)) await run()
const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const startMs = performance.now()
    await run()
    samples[name].push(performance.now() - startMs)
  }
}
await Promise.all([plain.close(), isolated.close()])
console.log(JSON.stringify(samples))
