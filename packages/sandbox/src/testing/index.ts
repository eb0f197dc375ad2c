export type { EnvironmentUnderTest } from './harness.js'
export { testPermit } from './permit.js'
export { scriptPty } from './script-pty.js'
export { testEnvironment } from './test-environment.js'
