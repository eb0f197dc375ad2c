import { describe, it } from 'vitest'

type Suite = (title: string, body: () => void) => void

/**
 * `describe` for tests that need something this machine may lack, such as a daemon; `missing` says what, `null` when all is there.
 * Without it they are skipped under a title that names it; with `HERMES_TEST_REQUIRE=all`, as in CI, they fail instead.
 */
export function needs(missing: string | null): Suite {
  if (missing === null) return describe
  if (process.env['HERMES_TEST_REQUIRE'] !== 'all')
    return (title, body) => describe.skip(`${title} (skipped: ${missing})`, body)
  return (title) =>
    describe(title, () => {
      it('finds what it needs', () => {
        throw new Error(`${missing}, and HERMES_TEST_REQUIRE=all allows no skip.`)
      })
    })
}
