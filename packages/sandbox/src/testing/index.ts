export { type TestPermit, testPermit } from './permit.js'
export { type EnvironmentUnderTest, type TestEnvironmentOptions, testEnvironment } from './test-environment.js'
