import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Platform } from '@hermes/contracts/platform'
import { openStorage } from '@hermes/storage'
import { createFakeClock, temporaryHome } from '@hermes/testkit'
import { startBotApiServer } from '@hermes/testkit/chats'
import { expect, it, onTestFinished } from 'vitest'
import { PausablePlatform } from './pausable-platform.js'
import { changePause, PlatformPauses } from './platform-pause.js'

it('rests from one word of the owner to the next, and brings then what was said meanwhile', async () => {
  const [bot, temporary] = [await startBotApiServer(), await temporaryHome()]
  const storage = await openStorage({ path: join(temporary.path, 'state.db') })
  const options = { token: bot.token, apiRoot: bot.url, fetch, clock: systemClock, logger: silentLogger }
  const { createTelegram } = await import('@hermes/platform-telegram')
  const create = async () => createTelegram(options)
  const platform = new PausablePlatform(await create(), create)
  onTestFinished(async () => {
    await platform.close()
    await storage.close()
    await bot.close()
    await temporary.remove()
  })
  const [heard, states] = [[] as string[], [] as string[]]
  platform.connect({
    hear: async (event) => void heard.push(event.type === 'message' ? event.text : event.type),
    onState: ({ type }) => void states.push(type),
  })
  const pauses = new PlatformPauses(silentLogger)
  const change = async (words: string, from: string | null = null) => {
    const changed = await changePause(storage.meta, systemClock, { words, names: ['telegram'], from })
    await pauses.apply(storage.meta, [platform])
    await pauses.settled()
    return changed
  }
  const send = () => platform.send({ target: { chatId: '7' }, text: 'hi', markup: 'plain' })
  bot.say('one')
  await expect.poll(() => heard).toEqual(['one'])
  await expect.poll(() => bot.unconfirmed).toBe(0)
  expect(await change('pause telegram', 'telegram')).toMatchObject({ isDone: false })
  expect(await change('pause pigeons')).toEqual({ isDone: false, text: 'Which platform? pause telegram' })
  expect(await change('rest telegram')).toMatchObject({
    isDone: false,
    text: expect.stringMatching(/Possible: list, pause NAME/),
  })
  expect(platform.state.type).toBe('connected')
  expect(await change('pause Telegram')).toMatchObject({ isDone: true })
  expect([platform.state.type, states.at(-1), platform.isPaused]).toEqual(['paused', 'paused', true])
  bot.say('two')
  await expect(send()).rejects.toMatchObject({ code: 'platform.unreachable' })
  expect([heard, bot.unconfirmed, bot.messages(7)]).toEqual([['one'], 1, []])
  expect(await change('resume telegram')).toMatchObject({ isDone: true })
  await expect.poll(() => heard).toEqual(['one', 'two'])
  expect(await send()).toMatch(/^\d+$/)
})

it('tries at once, by one word of a person, what waits to connect or was refused', async () => {
  const [bot, temporary] = [await startBotApiServer(), await temporaryHome()]
  const storage = await openStorage({ path: join(temporary.path, 'state.db') })
  // It stands still: nothing is tried again by itself.
  const clock = createFakeClock(1_000_000)
  const options = { token: bot.token, apiRoot: bot.url, fetch, clock, logger: silentLogger }
  const { createTelegram } = await import('@hermes/platform-telegram')
  const create = async () => createTelegram(options)
  const platform = new PausablePlatform(await create(), create)
  onTestFinished(async () => {
    await platform.close()
    await storage.close()
    await bot.close()
    await temporary.remove()
  })
  const pauses = new PlatformPauses(silentLogger)
  const look = async () => {
    const tried = await pauses.apply(storage.meta, [platform])
    await pauses.settled()
    return tried
  }
  const resume = async () => {
    await clock.advance(1)
    const { text } = await changePause(storage.meta, clock, {
      words: 'resume telegram',
      names: ['telegram'],
      from: null,
    })
    return text
  }
  await resume()
  bot.fail('getMe', { type: 'cut' })
  await look()
  platform.connect({ hear: async () => undefined, onState: () => undefined })
  await expect
    .poll(() => platform.state)
    .toMatchObject({ type: 'waiting', failures: 1, retryAtMs: clock.now() + 1_000 })
  // What was said before this gateway began is no word for it.
  expect(await look()).toEqual([])
  expect(platform.state.type).toBe('waiting')
  expect(await resume()).toMatch(/was not paused.*waits to reach or open it, it tries now\.$/)
  expect(await look()).toEqual(['telegram'])
  await expect.poll(() => platform.state.type).toBe('connected')
  const lookUps = () => bot.calls.filter(({ method }) => method === 'getMe').length
  const before = lookUps()
  await resume()
  await look()
  expect([platform.state.type, lookUps()]).toEqual(['connected', before])
})

it('goes on later where another adapter does not come in time, and is closed at once meanwhile', async () => {
  const clock = createFakeClock()
  const made: PromiseWithResolvers<Platform>[] = []
  const adapter = (close: () => void = () => undefined): Platform => ({
    ...{ name: 'slow', abilities: { maxLength: { unit: 'utf16', limit: 2_000 } } },
    ...{ state: { type: 'connected', account: 'bot' }, heardAtMs: null },
    ...{ connect: () => undefined, send: async () => '1', probe: async () => 'bot', close: async () => close() },
    download: async () => new Uint8Array(),
  })
  const create = () => {
    made.push(Promise.withResolvers<Platform>())
    return made.at(-1)!.promise
  }
  const platform = new PausablePlatform(adapter(), create, clock)
  await platform.setPaused(true)
  const late = expect(platform.setPaused(false)).rejects.toMatchObject({
    message: expect.stringContaining('30 seconds'),
  })
  await expect.poll(() => made.length).toBe(1)
  await clock.advance(30_000)
  await late
  const ended = Promise.withResolvers<void>()
  made[0]!.resolve(adapter(ended.resolve))
  await ended.promise
  expect(platform.state.type).toBe('paused')
  const never = platform.setPaused(false)
  await expect.poll(() => made.length).toBe(2)
  await platform.close()
  await never
  expect(platform.isPaused).toBe(true)
})
