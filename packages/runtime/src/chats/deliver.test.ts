import { join } from 'node:path'
import { deliver } from '@hermes/platform'
import { openStorage } from '@hermes/storage'
import { createFakeClock, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'

it('says queued until somebody sends it, then sent, or why it was refused', async () => {
  const temporary = await temporaryHome()
  const clock = createFakeClock()
  const { outbox, close } = await openStorage({ path: join(temporary.path, 'state.db'), clock })
  onTestFinished(async () => {
    await close()
    await temporary.remove()
  })
  const send = (key: string) =>
    deliver({ key, platform: 'telegram', target: key, body: { text: 'Hi.' } }, { outbox, waitMs: 0, clock })
  expect(await send('a')).toEqual({ type: 'queued' })
  await outbox.settle((await outbox.take({ platform: 'telegram' }))!, { type: 'sent' })
  expect(await send('a')).toEqual({ type: 'sent' })
  await send('b')
  await outbox.settle((await outbox.take({ platform: 'telegram' }))!, { type: 'failed', error: 'chat not found' })
  expect(await send('b')).toEqual({ type: 'failed', error: 'chat not found' })
})
