import { readdir, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createMediaCache } from './media-cache.js'

it('keeps files for two weeks, the newest of them where there are too many, and none outside its folder', async () => {
  const home = await temporaryHome()
  onTestFinished(() => home.remove())
  const folder = join(home.path, 'media')
  const cache = createMediaCache({ folder, clock: systemClock, maxBytes: 25 })
  const ten = Buffer.from('0123456789')
  const old = await cache.keep(ten, '../../etc/passwd')
  expect(old.startsWith(join(folder, ''))).toBe(true)
  const nowS = systemClock.now() / 1_000
  await utimes(old, nowS - 15 * 24 * 3_600, nowS - 15 * 24 * 3_600)
  const names: string[] = []
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    names.push(await cache.keep(ten, name))
    await utimes(names.at(-1)!, nowS - 100 + index, nowS - 100 + index)
  }
  await cache.prune()
  expect((await readdir(folder)).map((name) => name.slice(9)).sort()).toEqual(['b', 'c'])
  expect(await readFile(names[2]!, 'utf8')).toBe('0123456789')
})
