import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryHome } from './index.js'

it('makes a directory of its own and removes it with all in it', async () => {
  const home = await temporaryHome()
  const other = await temporaryHome()
  expect(home.path).not.toBe(other.path)
  writeFileSync(join(home.path, 'file'), 'x')
  await home.remove()
  await home.remove()
  expect(existsSync(home.path)).toBe(false)
  await other.remove()
})
