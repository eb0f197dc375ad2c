import { expect, it } from 'vitest'
import { homePlaceOf } from './index.js'

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
