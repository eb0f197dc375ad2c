// node bench/run.mjs [OPTIONS]: measures Hermes and writes bench/results/DATE.json; what is measured is in bench/README.md.
//   --rounds N    how often (default 7)
//   --only NAME   this scenario alone; may be given several times
//   --quick       3 rounds, no `size`
//   --strict      exit code 1 when a limit is passed or a scenario failed
//   --messages N  size of the store (default 20000, at least 1000)
//   --out FILE    where the result goes instead
//   --against COMMIT  compares COMMIT with HEAD instead: each in a clone of its own, in pairs that take turns, as many as --pairs says (5)
// Exit codes: 0 measured; 1 not built, or as --strict says; 2 wrong option.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundle } from '../scripts/build.mjs'
import { readOptions } from '../scripts/options.mjs'
import { acpServer } from './acp.mjs'
import { compareCommits, comparison } from './against.mjs'
import { backends } from './backends.mjs'
import { browser } from './browser.mjs'
import { chats } from './chats.mjs'
import { checkpoints } from './checkpoints.mjs'
import { compression } from './compression.mjs'
import { documents } from './documents.mjs'
import { keystrokeEcho } from './echo.mjs'
import { executeCode } from './execute-code.mjs'
import { extensions } from './extensions.mjs'
import { extract } from './extract.mjs'
import { gatewayLoad } from './gateway.mjs'
import { host } from './host.mjs'
import { isolation } from './isolation.mjs'
import { jobs } from './jobs.mjs'
import { createWorkspace } from './measure.mjs'
import { memory } from './memory.mjs'
import { startServer } from './model-server.mjs'
import { machineFacts, table, verdict } from './report.mjs'
import { firstRequest, installedSize, prefixAndWeight, toolSteps, versionStart } from './scenarios.mjs'
import { screen } from './screen.mjs'
import { servers } from './servers.mjs'
import { skills } from './skills.mjs'
import { sources } from './sources.mjs'
import { sessionStore } from './store.mjs'
import { tools } from './tools.mjs'
import { wires } from './wires.mjs'

const SCENARIOS = {
  start: versionStart,
  first: firstRequest,
  turns: toolSteps,
  memory,
  prefix: prefixAndWeight,
  jobs,
  acp: acpServer,
  gateway: gatewayLoad,
  chats,
  echo: keystrokeEcho,
  screen,
  store: sessionStore,
  checkpoint: checkpoints,
  compression,
  'execute-code': executeCode,
  isolation,
  tools,
  sources,
  servers,
  extensions,
  skills,
  extract,
  documents,
  browser,
  host,
  backends,
  wires,
  size: installedSize,
}
const { values } = readOptions(import.meta.filename, {
  rounds: { type: 'string' },
  only: { type: 'string', multiple: true },
  quick: { type: 'boolean' },
  strict: { type: 'boolean' },
  messages: { type: 'string' },
  out: { type: 'string' },
  against: { type: 'string' },
  pairs: { type: 'string' },
})
const rounds = Number(values.rounds ?? (values.quick || values.against ? 3 : 7))
const pairs = Number(values.pairs ?? 5)
const messages = values.messages === undefined ? undefined : Number(values.messages)
const names = values.only ?? Object.keys(SCENARIOS).filter((name) => !(values.quick && name === 'size'))
const unknown = names.filter((name) => !(name in SCENARIOS))
if (unknown.length > 0 || !(rounds >= 1) || !((messages ?? 1_000) >= 1_000) || !(pairs >= 1)) {
  console.error(
    `bench: --only takes ${Object.keys(SCENARIOS).join(', ')}; --rounds and --pairs a number from 1 on, --messages one from 1000 on`,
  )
  process.exit(2)
}

const root = join(import.meta.dirname, '..')
if (values.against !== undefined) {
  const only = names.flatMap((name) => ['--only', name])
  const args = [
    '--rounds',
    String(rounds),
    ...only,
    ...(messages === undefined ? [] : ['--messages', String(messages)]),
  ]
  console.log(comparison(compareCommits({ root, commit: values.against, pairs, args })))
  process.exit(0)
}
if (!['@hermes/cli', '@hermes/acp', '@hermes/gateway'].every((name) => bundle(root, name))) process.exit(1)
const machine = machineFacts()
console.log(
  `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}, ${rounds} rounds\n`,
)
const { rows, failures } = await measure()
console.log(table(rows))
for (const { name, message } of failures) console.error(`\nbench: ${name} failed: ${message}`)
console.log(`\nWritten to ${write({ date: new Date().toISOString(), machine, rounds, rows, failures })}`)
const isBad = failures.length > 0 || rows.some((item) => verdict(item) === 'FAIL')
process.exit(values.strict && isBad ? 1 : 0)

async function measure() {
  const directory = mkdtempSync(join(tmpdir(), 'hermes-bench-'))
  const server = await startServer()
  const rows = []
  const failures = []
  try {
    for (const name of names) {
      const workspace = createWorkspace(join(directory, name))
      try {
        rows.push(...(await SCENARIOS[name]({ rounds, messages, workspace, server })))
      } catch (error) {
        failures.push({ name, message: error.message })
      }
    }
    return { rows, failures }
  } finally {
    server.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function write(result) {
  const path = values.out ?? join(import.meta.dirname, 'results', `${result.date.slice(0, 10)}.json`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`)
  return path
}
