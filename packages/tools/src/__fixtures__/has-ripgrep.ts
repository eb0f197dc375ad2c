import { execFileSync } from 'node:child_process'

/** Whether `rg` is installed. @throws where nothing may be left out. */
export function hasRipgrep(): boolean {
  try {
    execFileSync('rg', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    // CI sets this, so that a machine without the program cannot pass by leaving the tests out.
    if (process.env['HERMES_TEST_REQUIRE'] === 'all')
      throw new Error('HERMES_TEST_REQUIRE=all, but rg is not installed.')
    return false
  }
}
