// node scripts/test.mjs [VITEST ARGS]: bundles the apps, runs every test, the slow ones too, ends with the line `N passed, N failed, N skipped`.
// Random tests take their seed from HERMES_TEST_SEED; without one a fresh seed is drawn and printed.
// Before that come the seconds of processor time each package took, against its share in scripts/test-shares.json. A whole run also has a limit
// on the clock, which counts only while other programs leave the processors alone. More runs than usual (HERMES_TEST_RUNS) have no limits.
// A whole run also holds docs/entry-points.json to what ran: a cell whose test did not run is a failure.
// Files with a failed test, up to three of them, run once more by themselves. A test that passes there counts as passed and is named at the
// end: it depends on what runs beside it, and that is a defect to be mended. What failed twice is named there too, with its first line.
// Exit codes: 0 all passed, 1 something failed, did not build, took more than its share, or nothing ran.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { bundle } from './build.mjs'
import { cellsWithoutRun } from './entry-points.mjs'
import { calibrate, clockVerdict, processors, reckon } from './test-costs.mjs'

const root = resolve(import.meta.dirname, '..')
const MOST_REPEATED = 3
const isWhole = process.argv.length === 2
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
    const first = count(report, status)
    const second = isRepeatable(first) ? repeat(first, join(directory, 'repeated.json')) : first
    const result = isWhole ? withClaims(second, first.files) : second
    for (const { name, message } of result.failures) console.log(`FAILED ${name}: ${message}`)
    return Math.max(summarize(result), isCheap ? 0 : 1)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Prints what the run cost. */
function isWithin({ calibrationMs, ...before }) {
  const shares = join(root, 'scripts/test-shares.json')
  const calibration = (calibrationMs + calibrate()) / 2
  const { lines, isOver } = reckon({ costs: env.HERMES_TEST_COSTS, shares, root, calibrationMs: calibration })
  const clock = clockVerdict({
    before,
    after: processors(),
    shares,
    isWhole,
    calibrationMs: calibration,
  })
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

/**
 * Counts tests; a file that could not be loaded, or any other reason for a failing exit, is one failure.
 * @returns {{ passed: number, failed: number, skipped: number, failures: { file: string, name: string, message: string }[] }}
 */
function count(report, status) {
  let data
  try {
    data = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: [], files: [] }
  }
  const failures = data.testResults.filter(({ status }) => status === 'failed').flatMap(failuresOf)
  return {
    passed: data.numPassedTests,
    failed: failures.length === 0 && status !== 0 ? 1 : failures.length,
    skipped: data.numPendingTests + data.numTodoTests,
    failures,
    files: data.testResults,
  }
}

/** Adds a failure for each cell of docs/entry-points.json whose test did not run. */
function withClaims(result, files) {
  const file = 'docs/entry-points.json'
  const unproven = cellsWithoutRun(root, files, { maySkip: !env.HERMES_TEST_REQUIRE }).map((message) => ({
    file,
    name: file,
    message,
  }))
  return { ...result, failed: result.failed + unproven.length, failures: [...result.failures, ...unproven] }
}

function failuresOf({ name: file, message, assertionResults }) {
  const path = relative(root, file)
  if (assertionResults.length === 0) return [{ file: path, name: path, message: firstLine(message) }]
  return assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => ({
      file: path,
      name: `${path} > ${fullName}`,
      message: firstLine(failureMessages[0]),
    }))
}

function firstLine(message) {
  return message?.split('\n', 1)[0] || 'no message'
}

/** A failure without a file to blame, such as an error that nothing caught, cannot be tried again. */
function isRepeatable({ failed, failures }) {
  const files = new Set(failures.map(({ file }) => file))
  return files.size > 0 && files.size <= MOST_REPEATED && failed === failures.length
}

/** Runs the files of what failed once more, one at a time with nothing beside them. */
function repeat(first, report) {
  const files = [...new Set(first.failures.map(({ file }) => file))]
  console.log(`\nOnce more, alone: ${files.join(' ')}`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const second = count(report, run('vitest', ['run', ...reporters, '--maxWorkers=1', ...files]))
  if (second.failed > second.failures.length) return first
  const stillFailing = new Set(second.failures.map(({ name }) => name))
  const unsteady = first.failures.filter(({ name }) => !stillFailing.has(name))
  for (const { name, message } of unsteady) console.log(`UNSTEADY, passed alone: ${name}: ${message}`)
  return { ...first, passed: first.passed + unsteady.length, failed: second.failed, failures: second.failures }
}

function summarize({ passed, failed, skipped }) {
  if (passed + failed === 0) console.error('No test ran.')
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return failed > 0 || passed === 0 ? 1 : 0
}
