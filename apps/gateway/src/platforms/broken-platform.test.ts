// Chat platforms of extensions that throw, hang or lie where they must not: each is named, and all others run.
import { defaultConfig, platformEntry } from '@hermes/config'
import { silentLogger } from '@hermes/contracts'
import type { ChatPlatform, Extension } from '@hermes/contracts/extension'
import type { Incoming, Platform, PlatformMessage } from '@hermes/contracts/platform'
import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'
import { configuredPlatforms } from './open-platforms.js'
import { hearing } from './platform-health.js'

const fails = (): never => {
  throw new Error('no such room')
}

/** A platform that connects and hears nothing, but for what `broken` does otherwise. */
function adapter(name: string, broken: object = {}): Platform {
  const platform: Platform = {
    name,
    abilities: { maxLength: { unit: 'utf16', limit: 2_000 } },
    state: { type: 'connected', account: 'bot' },
    heardAtMs: null,
    connect: () => undefined,
    send: async () => '1',
    download: async () => fails(),
    probe: async () => 'bot',
    close: async () => undefined,
  }
  return Object.defineProperties(platform, Object.getOwnPropertyDescriptors(broken))
}

/** What is wrong with each, by its name. */
const BROKEN: Readonly<Record<string, ChatPlatform['open']>> = {
  throws: fails,
  rejects: async () => fails(),
  formless: () => ({ ...adapter('formless'), close: undefined }) as never,
  tiny: () => adapter('tiny', { abilities: { maxLength: { unit: 'utf16', limit: 0 } } }),
  unconnected: () => adapter('unconnected', { connect: fails }),
  later: () => adapter('later', { connect: async () => fails() }),
  stateless: () =>
    adapter('stateless', {
      get state() {
        return fails()
      },
    }),
  unstated: () => adapter('unstated', { state: undefined }),
  unclosed: () => adapter('unclosed', { close: async () => fails() }),
}

const bringing = (platforms: Readonly<Record<string, ChatPlatform['open']>>): Extension => ({
  name: 'others',
  setup: (api) => {
    for (const [name, open] of Object.entries(platforms))
      api.factories.add('platform', name, () => ({ account: [], open }))
  },
})

it('has a platform named in one line that cannot be opened, connected, sent or ended, and all others run', async () => {
  const { bot, server, start } = await chatStage({}, {}, undefined, {}, [bringing(BROKEN)])
  server.setHandler(() => ({ text: 'Here.' }))
  const { reports, stop, storage } = await start()
  const states = () => Object.fromEntries(reports().map((report) => [report.name, hearing(report, 0).text]))
  const off = (why: string) => expect.stringMatching(new RegExp(`^off until the configuration changes: .*${why}.*$`))
  const tried = (why: string) =>
    expect.stringMatching(new RegExp(`to connect.* failed \\(.*${why}.*\\), the next is in`))
  await expect.poll(() => states()['later']).toEqual(tried('no such room'))
  expect(states()).toMatchObject({
    throws: tried('no such room'),
    rejects: tried('no such room'),
    formless: tried('has no close'),
    tiny: tried('maxLength'),
    unconnected: tried('no such room'),
    stateless: off('no such room'),
    unstated: off('does not say how it is doing'),
    unclosed: expect.stringContaining('connected as bot'),
  })
  bot.say('Are you there?')
  await bot.waitFor(7, (messages) => messages.some(({ text }) => text === 'Here.'))
  // One that rests as the gateway begins is closed before it was connected.
  await storage.meta.set('platform.paused:unclosed', '1')
  await stop()
  const again = (await start()).reports().find(({ name }) => name === 'unclosed')
  expect(again).toMatchObject({ state: { type: 'paused' } })
})

it('gives a platform 20 seconds to open, and ends one that opens later', async () => {
  const clock = createFakeClock()
  const late = Promise.withResolvers<Platform>()
  const { settings } = platformEntry('slow', [])
  const slow = {
    name: 'slow',
    account: [],
    open: () => late.promise,
    settings: settings!,
    hints: {},
    toolsets: undefined,
  }
  const [one] = configuredPlatforms(defaultConfig(), {}, [slow])
  const keeper = { get: async () => null, set: async () => undefined }
  const opened = one!.create({ fetchTo: () => fetch, keeper, clock, logger: silentLogger })
  const failed = expect(opened).rejects.toMatchObject({ message: expect.stringContaining('20 seconds') })
  await clock.advance(20_000)
  await failed
  const ended = Promise.withResolvers<void>()
  late.resolve(adapter('slow', { close: async () => ended.resolve() }))
  await ended.promise
})

it('opens a platform again and again that could not be opened or connected as the gateway started, and hears it then', async () => {
  let isWell = false
  const sent: PlatformMessage[] = []
  const event: Incoming = {
    ...({ type: 'message', id: '1', messageId: '1', sender: { id: '7', name: 'Ada' } } as const),
    ...{ chat: { id: '7', type: 'dm' }, text: 'hi', attachments: [], isToBot: true, atMs: 1 },
  }
  const connect: Platform['connect'] = ({ hear }) => (isWell ? void hear(event) : fails())
  const send: Platform['send'] = async (message) => `${sent.push(message)}`
  const late = () => (isWell ? adapter('late', { connect, send }) : fails())
  const brought = bringing({ late, shy: () => adapter('shy', { connect: () => (isWell ? undefined : fails()) }) })
  const { reports } = await (await chatStage({}, {}, undefined, {}, [brought])).start()
  const states = () => Object.fromEntries(reports().map(({ name, state }) => [name, state.type]))
  expect(states()).toMatchObject({ late: 'waiting', shy: 'waiting' })
  isWell = true
  await expect.poll(states, { timeout: 15_000 }).toMatchObject({ late: 'connected', shy: 'connected' })
  await expect
    .poll(() => sent.map(({ text }) => text).join(), { timeout: 5_000 })
    .toMatch(/^I do not know you yet\..*pairing approve late \w+$/s)
  expect(reports().filter(({ name }) => name === 'late')).toHaveLength(1)
})

it('takes nothing from a platform that says who speaks where in a way that nobody can go by', async () => {
  const event = {
    ...{ type: 'message', id: '1', messageId: '1', chat: { id: '7', type: 'dm' }, sender: { id: '7', name: 'Ada' } },
    ...{ text: 'hi', attachments: [], isToBot: true, atMs: 1 },
  }
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ id: 1 }, /heard was not taken: its id has to be a text/],
    [{ chat: { id: 7, type: 'dm' } }, /chat\.id/],
    [{ chat: { id: '7', type: 'room' } }, /chat\.type has to be dm, group, channel/],
    [{ sender: undefined }, /sender\.id/],
    [{ sender: { id: '', name: 'Ada' } }, /sender\.id/],
    [{ attachments: undefined }, /attachments/],
    [{ attachments: [{ kind: 'program', ref: 'x' }] }, /attachments/],
    [{ type: 'press', data: 'x' }, /acknowledge/],
    [{ type: 'shout' }, /type has to be message/],
    [{ type: 'moved', fromChatId: '1' }, /toChatId/],
  ]
  const heard = Promise.withResolvers<readonly PromiseSettledResult<void>[]>()
  const connect: Platform['connect'] = ({ hear }) => {
    const all = [...wrong.map(([change]) => ({ ...event, ...change })), null, event]
    heard.resolve(Promise.allSettled(all.map((one) => hear(one as never))))
  }
  const { start } = await chatStage({}, {}, undefined, {}, [bringing({ lobby: () => adapter('lobby', { connect }) })])
  await start()
  const outcomes = (await heard.promise).map((one) =>
    one.status === 'rejected' ? String(one.reason.message) : 'taken',
  )
  expect(outcomes.slice(0, wrong.length)).toEqual(wrong.map(([, line]) => expect.stringMatching(line)))
  expect(outcomes.slice(wrong.length)).toEqual([expect.stringMatching(/its id has to be/), 'taken'])
})

it('has one that cannot go on after it rested, or never says whether, keep no other from resting; it is tried again, and the end waits for none', async () => {
  let [isWell, opened] = [true, 0]
  const flaky = () => {
    opened++
    return isWell ? adapter('flaky') : fails()
  }
  const silent = () => (isWell ? adapter('silent') : new Promise<Platform>(() => undefined))
  const brought = bringing({ flaky, silent, steady: () => adapter('steady') })
  const { reports, storage, stop } = await (await chatStage({}, {}, undefined, {}, [brought])).start()
  const states = () => Object.fromEntries(reports().map(({ name, state }) => [name, state.type]))
  const rest = (name: string, isPaused: boolean) => storage.meta.set(`platform.paused:${name}`, isPaused ? '1' : null)
  for (const name of ['flaky', 'silent']) await rest(name, true)
  await expect
    .poll(states, { timeout: 5_000 })
    .toMatchObject({ flaky: 'paused', silent: 'paused', steady: 'connected' })
  isWell = false
  for (const name of ['flaky', 'silent']) await rest(name, false)
  await expect.poll(() => opened, { timeout: 5_000 }).toBe(2)
  await rest('steady', true)
  await expect.poll(states, { timeout: 5_000 }).toMatchObject({ flaky: 'paused', silent: 'paused', steady: 'paused' })
  isWell = true
  await expect
    .poll(states, { timeout: 5_000 })
    .toMatchObject({ flaky: 'connected', silent: 'paused', steady: 'paused' })
  await stop()
})
