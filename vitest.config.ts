import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

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
    setupFiles: ['tests/support/setup.ts'],
    environment: 'node',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // By default one core is kept free, which on two cores is half of them.
    maxWorkers: availableParallelism(),
  },
})
