// Runs before each test file: one seed for every random test, so that a failing run can be repeated, and more runs for a soak.
const seed = process.env['HERMES_TEST_SEED']
const runs = process.env['HERMES_TEST_RUNS']
if (seed !== undefined || runs !== undefined) {
  const { configureGlobal, readConfigureGlobal } = await import('fast-check')
  configureGlobal({
    ...readConfigureGlobal(),
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(runs !== undefined && { numRuns: Number(runs) }),
  })
}

// What the file has cost, for `pnpm test` to add up by package: processor time of this process and of the children it has waited for,
// beside the tests themselves that of loading them. Time on the clock says nothing while other programs run.
const ledger = process.env['HERMES_TEST_COSTS']
if (ledger !== undefined) {
  const { afterAll, expect } = await import('vitest')
  const { appendFileSync, readFileSync } = await import('node:fs')
  afterAll(() => {
    const { user, system } = process.cpuUsage()
    let childrenMs = 0
    // utime, stime, cutime and cstime are the 14th to 17th field, in hundredths of a second; the second is in brackets.
    if (process.platform === 'linux') {
      const fields = readFileSync('/proc/self/stat', 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      childrenMs = (Number(fields[13]) + Number(fields[14])) * 10
    }
    const costs = { file: expect.getState().testPath, ownMs: (user + system) / 1_000, childrenMs }
    appendFileSync(ledger, `${JSON.stringify(costs)}\n`)
  })
}
