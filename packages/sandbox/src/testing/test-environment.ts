import { describe, it } from 'vitest'
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
  /** Which tests are run, by their titles. Default: all. */
  readonly only?: (title: string) => boolean
}

/** Registers the tests that every terminal backend passes. Call it at the top level of a vitest file. */
export function testEnvironment({ name, create, only = () => true }: TestEnvironmentOptions): void {
  describe(`${name} as an environment`, () => {
    const backend: Backend = {
      create,
      shared: sharedHarness(create),
      it: (title, test) => {
        if (only(title)) it(title, test)
      },
    }
    fileTests(backend)
    execTests(backend)
    backgroundTests(backend)
    programTests(backend)
  })
}
