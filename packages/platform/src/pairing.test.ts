import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFakeClock, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createPairings } from './pairing.js'

async function start() {
  const { path, remove } = await temporaryHome()
  onTestFinished(remove)
  const folder = join(path, 'pairing')
  const clock = createFakeClock()
  return { folder, clock, pairings: createPairings({ folder, clock }) }
}

const ada = { id: '7', name: 'Ada' }

it('lets in who has a code, and nobody else, until it is revoked', async () => {
  const { pairings, folder } = await start()
  const code = (await pairings.request('telegram', ada))!
  expect(code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/)
  expect(await pairings.isApproved('telegram', '7')).toBe(false)
  for (const name of await readdir(folder)) {
    expect(await readFile(join(folder, name), 'utf8')).not.toContain(code)
    if (name.endsWith('.json')) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  }
  expect(await pairings.approve('telegram', ` ${code.toLowerCase()} `)).toMatchObject({ userId: '7', name: 'Ada' })
  expect(await pairings.isApproved('telegram', '7')).toBe(true)
  expect(await pairings.isApproved('email', '7')).toBe(false)
  await expect(pairings.approve('telegram', code)).rejects.toMatchObject({ code: 'platform.unknown_code' })
  expect(await pairings.list()).toMatchObject([
    { platform: 'telegram', pending: [], approved: [{ userId: '7', name: 'Ada' }] },
  ])
  expect(await pairings.revoke('telegram', '7')).toBe(true)
  expect(await pairings.revoke('telegram', '7')).toBe(false)
  expect(await pairings.isApproved('telegram', '7')).toBe(false)
})

it('gives one code in ten minutes to each, three in all, for an hour', async () => {
  const { pairings, clock } = await start()
  const code = (await pairings.request('telegram', ada))!
  expect(await pairings.request('telegram', ada)).toBeNull()
  for (const id of ['8', '9']) expect(await pairings.request('telegram', { id, name: 'x' })).not.toBeNull()
  expect(await pairings.request('telegram', { id: '10', name: 'x' })).toBeNull()
  await clock.advance(3_600_000)
  await expect(pairings.approve('telegram', code)).rejects.toMatchObject({ code: 'platform.unknown_code' })
  expect(await pairings.request('telegram', { id: '10', name: 'x' })).not.toBeNull()
  expect(await pairings.clearPending('telegram')).toBe(1)
})

it('takes no more codes for an hour after five wrong ones', async () => {
  const { pairings, clock } = await start()
  const code = (await pairings.request('telegram', ada))!
  for (let count = 0; count < 5; count++)
    await expect(pairings.approve('telegram', 'WRONGONE')).rejects.toMatchObject({ code: 'platform.unknown_code' })
  await expect(pairings.approve('telegram', code)).rejects.toMatchObject({ code: 'platform.pairing_locked' })
  expect(await pairings.request('telegram', { id: '8', name: 'x' })).toBeNull()
  await clock.advance(3_600_000)
  const next = (await pairings.request('telegram', { id: '8', name: 'x' }))!
  expect(await pairings.approve('telegram', next)).toMatchObject({ userId: '8' })
})

it('says of a file that it cannot read, rather than that nobody was let in', async () => {
  const { pairings, folder } = await start()
  await pairings.request('telegram', ada)
  await writeFile(join(folder, 'telegram-approved.json'), '[1')
  await expect(pairings.isApproved('telegram', '7')).rejects.toMatchObject({ code: 'platform.pairing_unreadable' })
  await expect(pairings.request('../x', ada)).rejects.toMatchObject({ code: 'platform.bad_target' })
})
