import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

// Files called *.slow.test.ts (kill and fault matrices, real servers) run where the command line names one or `.slow`, and with
// HERMES_TEST_SLOW=1, as `pnpm test` has it; `pnpm vitest run packages/NAME` leaves them out.
const runsSlow = process.env['HERMES_TEST_SLOW'] === '1' || process.argv.some((word) => word.includes('.slow'))

// Packages are tested from their sources (the `@hermes/source` export condition); tests/ drives the built apps. Other packages are found as
// Node itself finds them: what is meant for bundlers (`module`) does not always run in Node.
export default defineConfig({
  resolve: { conditions: ['@hermes/source', 'node', 'development|production'], mainFields: ['main'] },
  ssr: {
    resolve: {
      conditions: ['@hermes/source', 'node', 'development|production'],
      mainFields: ['main'],
      externalConditions: ['@hermes/source'],
    },
  },
  test: {
    include: ['packages/**/src/**/*.test.ts', 'apps/**/src/**/*.test.ts', 'tests/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(runsSlow ? [] : ['**/*.slow.test.ts'])],
    setupFiles: ['tests/support/setup.ts'],
    environment: 'node',
    env: { TZ: 'UTC' },
    // Built apps run as they are.
    server: { deps: { external: [/\/apps\/[^/]+\/dist\//] } },
    // A machine under load takes longer than a second for what is soon.
    expect: { poll: { timeout: 10_000 } },
    // A guard against what hangs, and no measure: rented machines take three times as long from one hour to the next.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Files that run in one worker share what they load: sources keep no state in modules, and loading them anew cost half of all time.
    isolate: false,
    // Tests wait a good part of their time, for programs and for what they time.
    maxWorkers: availableParallelism() + 1,
  },
})
