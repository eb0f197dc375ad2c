export type { EnvironmentUnderTest } from './harness.js'
export { type TestPermit, testPermit } from './permit.js'
export { scriptPty } from './script-pty.js'
export { type TestEnvironmentOptions, testEnvironment } from './test-environment.js'
