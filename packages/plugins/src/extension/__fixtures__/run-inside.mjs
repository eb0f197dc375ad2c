// node run-inside.mjs FOLDER [TOOL]: loads the plugin of FOLDER inside of this process, calls its tools that leave an error uncaught, loads it again
// once the files beside it are others, and says what came of it. TOOL is called last.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import { loadInside } from '../inside.ts'
import { readState, writeEntry } from '../../state.ts'

const [folder, last] = process.argv.slice(2)
const stateFile = join(folder, 'installed-plugins.json')
let faulty = Promise.withResolvers()
const logger = { ...silentLogger, error: (text, { error }) => faulty.resolve(`${text} ${error}`) }

/** What a tool gets of Hermes. */
const context = {
  refused: async () => {
    await sleep(1)
    throw new HermesError('Not permitted.', { code: 'policy.denied' })
  },
  mistaken: async () => {
    await sleep(1)
    throw new TypeError('of Hermes')
  },
}

async function load(version) {
  faulty = Promise.withResolvers()
  const inside = { name: 'faulty', module: join(folder, 'index.mjs'), folder, version }
  const extension = await loadInside(inside, { stateFile, logger, clock: systemClock })
  const tools = new Map()
  let make
  const dispose = extension.setup({
    tools: { add: (tool) => tools.set(tool.name, tool) },
    factories: { add: (_kind, _name, create) => (make = create) },
  })
  return { make, dispose, call: async (name) => tools.get(name).execute(context) }
}

await writeEntry(stateFile, folder, { name: 'faulty', folder, isEnabled: true, agreed: null })
for (const name of ['timer', 'floats', 'deep', 'refused']) {
  const { call, dispose } = await load('one')
  console.log(`${name} ${await call(name)}: ${await faulty.promise}`)
  console.log(await call('parts').catch(({ code }) => code))
  await dispose()
}
for (const file of ['part.mjs', 'part.cjs']) {
  const path = join(folder, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace('old', 'new'))
}
const { call, make } = await load('two')
console.log(await call('parts'), make().name)
// The last of them is written to the file a moment after it was logged.
while (!(await readState(stateFile))[0].fault?.error.startsWith('Not permitted')) await sleep(5)
if (last) await call(last)
await sleep(50)
console.log('alive')
