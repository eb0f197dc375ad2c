// node spend.mjs HOME: opens an agent, waits for a line on standard input, then says something until the budget is spent.
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { openRuntime } from '../open-runtime.ts'

const home = process.argv[2]
const world = { env: {}, cwd: home, user: 'u', tempDir: home }
const runtime = await openRuntime({ home, userHome: home, ...world })
const { agent } = await runtime.createAgent({})
writeSync(1, 'ready\n')
await once(process.stdin, 'data')
let result
do result = await agent.run('More.').result
while (result.status === 'completed')
await runtime.close()
writeSync(1, `${result.error?.code}\n`)
process.exit(0)
