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

// What the file costs, for `pnpm test` to add up by package: processor time of this process and of the children it waited for, loading
// included. Time on the clock says nothing while other programs run.
const costs = process.env['HERMES_TEST_COSTS']
if (costs !== undefined) {
  const { afterAll, expect } = await import('vitest')
  const { appendFileSync, readFileSync } = await import('node:fs')
  const spentMs = () => {
    const { user, system } = process.cpuUsage()
    if (process.platform !== 'linux') return (user + system) / 1_000
    // Behind the name in brackets, the 14th and 15th field are those of waited-for children, in hundredths of a second.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
    return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * 10
  }
  const beforeMs = spentMs()
  afterAll(() => {
    const line = { file: expect.getState().testPath, cpuMs: Math.round(spentMs() - beforeMs) }
    appendFileSync(costs, `${JSON.stringify(line)}\n`)
  })
}
