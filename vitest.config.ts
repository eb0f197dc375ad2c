import { defineConfig } from 'vitest/config'

// Packages are tested from their sources (the `@hermes/source` export condition); tests/ drives the built apps.
export default defineConfig({
  resolve: { conditions: ['@hermes/source', 'module', 'node', 'development|production'] },
  ssr: {
    resolve: {
      conditions: ['@hermes/source', 'module', 'node', 'development|production'],
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
  },
})
