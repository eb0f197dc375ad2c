import { describe } from 'vitest'
import { backgroundTests } from './background-tests.js'
import { execTests } from './exec-tests.js'
import { fileTests } from './file-tests.js'
import { type EnvironmentUnderTest, sharedHarness } from './harness.js'
import { programTests } from './program-tests.js'

/** Which backend {@link testEnvironment} tests. */
interface TestEnvironmentOptions {
  /** Shown in test titles. */
  readonly name: string
  /**
   * Makes an environment, for many tests or for one. Its directory exists, is empty and writable; it has a POSIX shell and the usual small programs.
   */
  readonly create: () => Promise<EnvironmentUnderTest>
}

/** Registers the tests that every terminal backend passes. Call it at the top level of a vitest file. */
export function testEnvironment(options: TestEnvironmentOptions): void {
  describe(`${options.name} as an environment`, () => {
    const shared = sharedHarness(options.create)
    fileTests(shared)
    execTests(shared, options.create)
    backgroundTests(shared, options.create)
    programTests(shared, options.create)
  })
}
