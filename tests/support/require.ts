import { describe, it } from 'vitest'

type Suite = (title: string, body: () => void) => void

/**
 * `describe` for tests that need something this machine may lack, such as a daemon. Without it they are skipped under a title that
 * names it; with `HERMES_TEST_REQUIRE=all`, as in CI, they fail instead.
 */
export function needs(name: string, isAvailable: boolean): Suite {
  if (isAvailable) return describe
  if (process.env['HERMES_TEST_REQUIRE'] !== 'all')
    return (title, body) => describe.skip(`${title} (needs ${name})`, body)
  return (title) =>
    describe(title, () => {
      it(`finds ${name}`, () => {
        throw new Error(`${name} is missing here, and HERMES_TEST_REQUIRE=all allows no skip`)
      })
    })
}
