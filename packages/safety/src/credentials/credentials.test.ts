import { expect, it } from 'vitest'
import { CREDENTIAL_PLACES, homePlaceOf } from './index.js'

it.each([
  ['Library/pnpm/node', 'plain'],
  ['Library/Application Support/fnm/node-versions', 'plain'],
  ['Library/Developer/Xcode/UserData', 'plain'],
  ['Library/Application Support', 'plain'],
  ['Library/Mail/V10', 'unknown'],
  ['Library/Application Support/Acme/state', 'unknown'],
  ['Library/Keychains/login.keychain-db', 'credential'],
  ['Library/Caches/github-token.txt', 'named'],
])('counts ~/%s on macOS as %s', (path, type) => {
  expect(homePlaceOf(path, { isMacOs: true }).type).toBe(type)
})

it('names for each place of credentials a page that says so, and has no place twice', () => {
  const without = CREDENTIAL_PLACES.filter(({ page }) => !/^https:\/\/[\w-]+(?:\.[\w-]+)+(?:\/\S*)?$/.test(page))
  expect(without.map(({ path }) => path)).toEqual([])
  const paths = CREDENTIAL_PLACES.map(({ path }) => path)
  expect(paths).toEqual([...new Set(paths)])
})
