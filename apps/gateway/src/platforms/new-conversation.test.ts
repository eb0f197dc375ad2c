// A message right behind /new is answered, in the new conversation, whatever the store does meanwhile; what is over leaves nothing behind.
import { setTimeout as later } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { HermesError } from '@hermes/contracts'
import type { Storage } from '@hermes/storage'
import type { BotApiServer } from '@hermes/testkit/chats'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'
import { ChatWorker } from './chat-worker.js'

type Swap = Storage['meta']['swap']

/** The store with something before each change of facts; `values` are what they become. */
const before =
  (look: (values: string) => Promise<unknown>) =>
  (storage: Storage): Storage => {
    const swap: Swap = async (changes, also) => {
      await look(changes.map(({ is }) => is ?? '').join('\n'))
      return storage.meta.swap(changes, also)
    }
    const { get, set, list } = storage.meta
    return { ...storage, meta: { get, set, list, swap } }
  }

const answered = (bot: BotApiServer, text: string) => bot.waitFor(7, (all) => all.some((one) => one.text === text))

const unavailable = () => new HermesError('The store is busy.', { code: 'store.busy', retryable: true })

it('answers what is said right behind /new in the new conversation, also where /new takes long', async () => {
  // Longer than the platform waits for a command before it goes on to what was said next.
  const slow = before(async (values) => values.includes('"generation":1,"isOpen":false') && (await later(2_500)))
  const { bot, server, start } = await chatStage({}, {}, slow)
  server.setHandler(({ body }) => {
    const isFirst = JSON.stringify(body.messages.at(-1)!.content).includes('first')
    return isFirst ? { text: 'One.' } : { text: 'Two.', latencyMs: 1_500 }
  })
  await start()
  bot.say('first')
  await answered(bot, 'One.')
  bot.say('/new')
  bot.say('second')
  await answered(bot, 'Two.')
  expect(bot.messages(7).map(({ text }) => text)).toEqual(['One.', 'A new conversation.', 'Two.'])
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toContain('first')
})

it('stays in the new conversation where the old one is being closed as /new comes', async () => {
  const closing = Promise.withResolvers<void>()
  const renewed = Promise.withResolvers<void>()
  const held = before(async (values) => {
    if (!values.includes('"generation":0,"isOpen":false')) return
    closing.resolve()
    await renewed.promise
  })
  const { bot, server, start } = await chatStage({}, {}, held)
  server.enqueue({ text: 'One.' }, { text: 'Two.' })
  await start()
  bot.say('first')
  await closing.promise
  bot.say('/new')
  await answered(bot, 'A new conversation.')
  renewed.resolve()
  bot.say('second')
  await answered(bot, 'Two.')
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toContain('first')
})

it('begins anew, and says what went wrong, also where the store took nothing at first', async () => {
  let failures = 0
  const failing = (storage: Storage): Storage => {
    const once = before(async (values) => {
      if (values.includes('"generation":1,"isOpen":false') && failures++ === 0) throw unavailable()
    })(storage)
    const add: Storage['outbox']['add'] = async (messages) => {
      if (JSON.stringify(messages).includes(':failed:') && failures++ < 2) throw unavailable()
      return storage.outbox.add(messages)
    }
    const { take, offering, accepted, settle, nextDue, list, prune } = storage.outbox
    return { ...once, outbox: { add, take, offering, accepted, settle, nextDue, list, prune } }
  }
  const { bot, server, start } = await chatStage({}, {}, failing)
  server.enqueue({ fault: 'status', status: 400 }, { text: 'Here I am.' })
  await start()
  bot.say('are you there?')
  await answered(bot, 'Here I am.')
  failures = 0
  bot.say('/new')
  await answered(bot, 'A new conversation.')
  expect(failures).toBeGreaterThan(0)
})

it('holds no conversation that began anew, after ten of them', async () => {
  const { bot, server, start } = await chatStage()
  server.setHandler(() => ({ text: 'Yes.' }))
  const { host } = await start()
  const held = async () => {
    await host.closeIdle(0)
    return queryObjects(ChatWorker, { format: 'count' })
  }
  for (let count = 1; count <= 10; count++) {
    const times = (what: string) => bot.waitFor(7, (all) => all.filter(({ text }) => text === what).length === count)
    bot.say('hi')
    await times('Yes.')
    bot.say('/new')
    await times('A new conversation.')
  }
  // The one in use, and the one before, of which the store may still be written to.
  await expect.poll(held, { timeout: 10_000 }).toBeLessThanOrEqual(2)
})
