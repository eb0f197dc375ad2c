import { setImmediate } from 'node:timers/promises'
import { silentLogger } from '@hermes/contracts'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { SkillUsage } from './usage.js'

it('counts each use once, whatever is on its way to the file', async () => {
  await using home = await temporaryHome()
  const usage = new SkillUsage(`${home.path}/uses.json`, silentLogger)
  const seen: unknown[] = []
  for (let use = 1; use <= 5; use++) {
    usage.note('tea', use)
    let isWritten = false
    const writing = usage.flush().then(() => {
      isWritten = true
    })
    while (!isWritten) {
      seen.push((usage.all().get('tea')?.used ?? 0) - use)
      await setImmediate()
    }
    await writing
  }
  expect([...new Set(seen)]).toEqual([0])
  expect(new SkillUsage(`${home.path}/uses.json`, silentLogger).all().get('tea')).toMatchObject({ used: 5 })
})
