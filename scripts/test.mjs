// node scripts/test.mjs [VITEST ARGS]: bundles the apps, runs every test, the slow ones too, ends with the line `N passed, N failed, N skipped`.
// Random tests take their seed from HERMES_TEST_SEED; without one a fresh seed is drawn and printed.
// Before that come the seconds of processor time each package took, against its share in scripts/test-shares.json. A whole run also has a limit
// on the clock, which counts only while other programs leave the processors alone. More runs than usual (HERMES_TEST_RUNS) have no limits.
// Exit codes: 0 all passed, 1 something failed, did not build, took more than its share, or nothing ran.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundle } from './build.mjs'
import { calibrate, clockVerdict, processors, reckon } from './test-costs.mjs'

const root = resolve(import.meta.dirname, '..')
const env = {
  ...process.env,
  HERMES_TEST_SLOW: '1',
  HERMES_TEST_SEED: process.env.HERMES_TEST_SEED ?? String(randomInt(2 ** 31)),
}

process.exitCode = main()

function main() {
  if (!bundle(root)) return summarize({ passed: 0, failed: 1, skipped: 0 })
  console.log(`Seed of random tests: HERMES_TEST_SEED=${env.HERMES_TEST_SEED}`)
  const directory = mkdtempSync(join(tmpdir(), 'hermes-test-'))
  try {
    const report = join(directory, 'report.json')
    env.HERMES_TEST_COSTS = join(directory, 'costs')
    const before = { calibrationMs: calibrate(), ...processors() }
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const status = run('vitest', ['run', ...reporters, ...process.argv.slice(2)])
    const isCheap = isWithin(before)
    return Math.max(summarize(count(report, status)), isCheap ? 0 : 1)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Prints what the run cost. */
function isWithin({ calibrationMs, ...before }) {
  const shares = join(root, 'scripts/test-shares.json')
  const calibration = (calibrationMs + calibrate()) / 2
  const { lines, isOver } = reckon({ costs: env.HERMES_TEST_COSTS, shares, root, calibrationMs: calibration })
  const clock = clockVerdict({ before, after: processors(), shares, isWhole: process.argv.length === 2 })
  console.log(['', 'Processor time by package:', ...lines, clock.line, ''].join('\n'))
  return process.env.HERMES_TEST_RUNS !== undefined || !(isOver || clock.isOver)
}

function run(command, args) {
  const { status, error } = spawnSync(join(root, 'node_modules/.bin', command), args, {
    cwd: root,
    stdio: 'inherit',
    env,
  })
  if (error) console.error(`Cannot start ${command}: ${error.message}`)
  return status ?? 1
}

/** Counts tests; a file that could not be loaded, or any other reason for a failing exit, is one failure. */
function count(report, status) {
  let data
  try {
    data = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const unloaded = data.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length
  const failed = data.numFailedTests + unloaded
  return {
    passed: data.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: data.numPendingTests + data.numTodoTests,
  }
}

function summarize({ passed, failed, skipped }) {
  if (passed + failed === 0) console.error('No test ran.')
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return failed > 0 || passed === 0 ? 1 : 0
}
