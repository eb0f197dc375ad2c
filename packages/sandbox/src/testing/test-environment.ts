import { describe, it, TestRunner } from 'vitest'
import { backgroundTests } from './background-tests.js'
import { execTests } from './exec-tests.js'
import { fileTests } from './file-tests.js'
import { type Backend, type EnvironmentUnderTest, sharedHarness } from './harness.js'
import { programTests } from './program-tests.js'

/** Which backend {@link testEnvironment} tests. */
interface TestEnvironmentOptions {
  /** Shown in test titles. */
  readonly name: string
  /**
   * Makes an environment, for many tests or for one. Its directory exists, is empty and writable; it has a POSIX shell and the usual small programs.
   */
  readonly create: () => Promise<EnvironmentUnderTest>
  /** Which tests are run beside the first of each group, by their titles. Default: all. */
  readonly only?: (title: string) => boolean
}

/** Registers the tests that every terminal backend passes. Call it at the top level of a vitest file. */
export function testEnvironment({ name, create, only = () => true }: TestEnvironmentOptions): void {
  describe(`${name} as an environment`, () => {
    const begun = new Set<unknown>()
    const backend: Backend = {
      create,
      shared: sharedHarness(create),
      it: (title, test) => {
        // A group in which no test was drawn would be an error.
        const group = TestRunner.getCurrentSuite()
        if (only(title) || !begun.has(group)) it(title, test)
        begun.add(group)
      },
    }
    fileTests(backend)
    execTests(backend)
    backgroundTests(backend)
    programTests(backend)
  })
}
