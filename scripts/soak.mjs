// node scripts/soak.mjs [VITEST ARGS]: every test with many more random runs, for an evening rather than for a commit.
// HERMES_TEST_RUNS is the number of runs of each property, HERMES_TEST_HISTORIES that of histories on every wire, HERMES_TEST_KILLS how
// often the kill test kills, HERMES_TEST_BROWSER_TASKS how many tasks browsers do while something of them is killed every second, HERMES_TEST_STARTS how often servers and plugins are started and reloaded, HERMES_TEST_CHILDREN how many tasks are handed out, HERMES_TEST_REQUESTS how many requests each route of the gateway gets, HERMES_TEST_SOAK_MINUTES how long it is watched for what it holds (`pnpm soak tests/gateway/soak`, that alone); with
// HERMES_TEST_CLI_PROCESS each run of the CLI is a process of its own. All can be set outside.
// Exit codes and last line as those of test.mjs.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const env = {
  HERMES_TEST_RUNS: '5000',
  HERMES_TEST_HISTORIES: '10000',
  HERMES_TEST_KILLS: '500',
  HERMES_TEST_BROWSER_TASKS: '200',
  HERMES_TEST_STARTS: '500',
  HERMES_TEST_CHILDREN: '100',
  HERMES_TEST_REQUESTS: '1000',
  HERMES_TEST_CHAT_MESSAGES: '10000',
  HERMES_TEST_CHAT_ANSWERS: '60',
  HERMES_TEST_SOAK_MINUTES: '45',
  HERMES_TEST_CLI_PROCESS: '1',
  ...process.env,
}
const script = join(import.meta.dirname, 'test.mjs')
const { status } = spawnSync(process.execPath, [script, '--testTimeout=7200000', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
})
process.exit(status ?? 1)
