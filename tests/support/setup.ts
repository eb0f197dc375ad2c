// Runs before each test file: one seed for every random test, so that a failing run can be repeated.
const seed = process.env['HERMES_TEST_SEED']
if (seed !== undefined) {
  const { configureGlobal, readConfigureGlobal } = await import('fast-check')
  configureGlobal({ ...readConfigureGlobal(), seed: Number(seed) })
}
