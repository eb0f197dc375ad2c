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
