import { silentLogger, systemClock } from '@hermes/contracts'
import { testPlatform } from '@hermes/platform/testing'
import { createFakeClock } from '@hermes/testkit'
import { type BotApiServer, startBotApiServer } from '@hermes/testkit/chats'
import fc from 'fast-check'
import { Bot } from 'grammy/web'
import { expect, it, onTestFinished } from 'vitest'
import { createTelegram, type TelegramOptions } from './index.js'

const CHAT = 7

async function start(over: Partial<TelegramOptions> = {}) {
  const server = await startBotApiServer()
  const options = { token: server.token, apiRoot: server.url, fetch, clock: systemClock, logger: silentLogger }
  const platform = createTelegram({ ...options, ...over })
  return { server, platform }
}

testPlatform({
  create: async () => {
    const { server, platform } = await start()
    const faults = {
      'rate-limited': {
        type: 'error',
        code: 429,
        description: 'Too Many Requests: retry after 3',
        parameters: { retry_after: 3 },
      },
      unheard: { type: 'accepted-unheard' },
      markup: { type: 'error', code: 400, description: "Bad Request: can't parse entities: no" },
      rejected: { type: 'error', code: 403, description: 'Forbidden: bot was blocked by the user' },
    } as const
    return {
      platform,
      target: { chatId: String(CHAT) },
      say: (text) => void server.say(text),
      shown: () => server.messages(CHAT).map(({ text }) => text),
      unconfirmed: () => server.unconfirmed,
      fail: (how) => server.fail('sendMessage', faults[how]),
      revoke: () => server.setRevoked(true),
      close: () => server.close(),
    }
  },
})

it('is tested against a server that the library itself takes for Telegram', async () => {
  const server: BotApiServer = await startBotApiServer()
  const bot = new Bot(server.token, { client: { apiRoot: server.url } })
  bot.on('message:text', async (context) => {
    const sent = await context.reply(`<b>${context.message.text}</b>`, {
      parse_mode: 'HTML',
      reply_markup: { inline_keyboard: [[{ text: 'ok', callback_data: 'yes' }]] },
    })
    await context.api.editMessageText(context.chat.id, sent.message_id, 'edited', {
      reply_markup: { inline_keyboard: [[{ text: 'ok', callback_data: 'yes' }]] },
    })
    await context.react('👍')
  })
  bot.on('callback_query:data', (context) => context.answerCallbackQuery(`got ${context.callbackQuery.data}`))
  const running = bot.start()
  onTestFinished(async () => {
    await bot.stop()
    await running
    await server.close()
  })
  server.say('hello')
  const [message] = await server.waitFor(CHAT, (all) => all[0]?.edits === 1)
  expect(message).toMatchObject({ text: 'edited', buttons: [[{ text: 'ok', callback_data: 'yes' }]] })
  await expect.poll(() => [...server.reactions.values()]).toEqual(['👍'])
  server.press(message!, 'yes')
  await expect.poll(() => server.toasts).toEqual(['got yes'])
  const refused = bot.api.sendMessage(CHAT, '<b>open', { parse_mode: 'HTML' })
  await expect(refused).rejects.toMatchObject({
    error_code: 400,
    description: expect.stringMatching(/can't parse entities/),
  })
})

it('shows drafts in private chats of a server that has them, and asks one that has none once', async () => {
  const { server, platform } = await start()
  onTestFinished(() => server.close())
  const tries = () => server.calls.filter(({ method }) => method === 'sendMessageDraft').length
  const shownBy =
    (bot: typeof platform) =>
    (text: string, chatId = String(CHAT)) =>
      bot.draft!(1, { target: { chatId }, text, markup: 'plain' })
  const old = shownBy(platform)
  expect([await old('It'), await old('It is', '8'), tries()]).toEqual([false, false, 1])
  server.offerDrafts()
  const own = { token: server.token, apiRoot: server.url, fetch, clock: systemClock, logger: silentLogger }
  const shown = shownBy(createTelegram(own))
  expect(await shown('It is a')).toBe(true)
  expect(server.drafts.get(CHAT)).toEqual({ id: 1, text: 'It is a' })
  expect(await shown('To all', '-100')).toBe(false)
  server.fail('sendMessageDraft', {
    type: 'error',
    code: 429,
    description: 'Too Many Requests',
    parameters: { retry_after: 1 },
  })
  await expect(shown('It is a draft')).rejects.toMatchObject({ code: 'platform.rate_limited' })
  server.fail('sendMessageDraft', { type: 'error', code: 400, description: 'Bad Request: TEXTDRAFT_PEER_INVALID' })
  const before = tries()
  expect([await shown('It is a draft'), await shown('It is a draft.'), tries() - before]).toEqual([false, false, 1])
  expect(await shown('Another', '8')).toBe(true)
})

it('sends a table as a rich message where the server has them and takes it, with nothing in it that Telegram would fetch', async () => {
  const { server, platform } = await start()
  onTestFinished(() => server.close())
  const tries = () => server.calls.filter(({ method }) => method === 'sendRichMessage').length
  const table = '| a | b |\n| - | - |\n| 1 | 2 |'
  const modes = () => server.messages(CHAT).map(({ parseMode }) => parseMode)
  const by = (bot: typeof platform) => (text: string) =>
    bot.send({ target: { chatId: String(CHAT) }, text, markup: 'markdown', replyTo: '1' })
  for (const text of [table, table]) await by(platform)(text)
  expect([modes(), tries()]).toEqual([['HTML', 'HTML'], 1])
  server.offerRichMessages()
  const own = { token: server.token, apiRoot: server.url, fetch, clock: systemClock, logger: silentLogger }
  const send = by(createTelegram(own))
  await send(`Here:\n\n${table}`)
  expect(server.messages(CHAT).at(-1)).toMatchObject({ text: `Here:\n\n${table}`, parseMode: 'rich', replyTo: 1 })
  for (const more of ['![x](https://example.org/?q=1)', '<img src="https://example.org">', '$1 or $2'])
    await send(`${table}\n\n${more}`)
  await send('No table.')
  server.fail('sendRichMessage', { type: 'error', code: 400, description: "Bad Request: can't parse rich message" })
  await send(table)
  expect([modes().slice(3), tries()]).toEqual([Array(5).fill('HTML'), 3])
  server.fail('sendRichMessage', { type: 'error', code: 429, description: 'Too Many Requests' })
  await expect(send(table)).rejects.toMatchObject({ code: 'platform.rate_limited' })
  expect(modes()).toHaveLength(8)
})

it('sends any Markdown, marked up where Telegram has a tag for it and never refused', async () => {
  const { server, platform } = await start()
  onTestFinished(() => server.close())
  const send = (text: string) => platform.send({ target: { chatId: String(CHAT) }, text, markup: 'markdown' })
  await send(
    '# Title\n\n- one **two**\n  - [x] `a<b`\n1. three\n\n> quote\n> > more\n\n```ts\nif (a < b) {}\n```\n[link](https://x.test/?a=1&b=2) [bad](javascript:x) ~~no~~ _yes_',
  )
  expect(server.messages(CHAT)[0]!.text).toBe(
    'Title\n\n• one two\n  ◦ ☑ a<b\n\n1. three\n\nquote\n\nmore\n\nif (a < b) {}\n\nlink [bad](javascript:x) no yes',
  )
  const piece = fc.oneof(
    fc.constantFrom(
      '**',
      '_',
      '`',
      '```\n',
      '# ',
      '> ',
      '- ',
      '1. ',
      '[a](https://x.test)',
      '|a|b|\n|-|-|\n|c|d|\n',
      '<b>',
      '</i>',
      '&amp;',
      '\n',
      '\n\n',
      '![i](http://y.test)',
      '~~',
      '<!--',
      '\\',
    ),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 40 }), async (pieces) => {
      const text = `x ${pieces.join('')}`
      await send(text)
    }),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 200) },
  )
})

it('knows by what Telegram says of its deliveries that it hears, though nobody writes, and takes a webhook back', async () => {
  const clock = createFakeClock(1_000_000_000)
  const webhook = { url: 'https://127.0.0.1:1/hook', secret: 'a-secret-of-sixteen' }
  const { server, platform } = await start({ webhook, clock })
  platform.connect({ hear: async () => undefined, onState: () => undefined })
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  const look = async () => {
    await clock.waitForSleepers()
    await clock.advance(45_000)
    await clock.waitForSleepers()
  }
  await look()
  const first = clock.now()
  expect(platform.heardAtMs).toBe(first)
  // Something waits there and cannot be brought.
  server.say('anybody?')
  await look()
  server.failDelivery(clock.now() / 1000)
  await look()
  await look()
  expect(platform.heardAtMs).toBe(first + 45_000)
  server.failDelivery(0)
  await look()
  expect(platform.heardAtMs).toBe(clock.now())
  server.useWebhook('https://elsewhere.test')
  await look()
  expect(platform.state).toMatchObject({ type: 'waiting', error: expect.stringContaining('Another program') })
  await clock.advance(1_000)
  await expect.poll(() => platform.state.type).toBe('connected')
})

it('hears what a webhook brings with the secret, and nothing without it', async () => {
  const secret = 'a-secret-of-sixteen'
  const { server, platform } = await start({ webhook: { url: 'https://bot.test/hook', secret } })
  const heard: string[] = []
  platform.connect({ hear: async (event) => void heard.push(event.id), onState: () => undefined })
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  await expect.poll(() => platform.state.type).toBe('connected')
  const post = (body: string, key = secret) =>
    platform.receive!(
      new Request('https://bot.test/hook', {
        method: 'POST',
        body,
        headers: { 'x-telegram-bot-api-secret-token': key },
      }),
    )
  const message = {
    message_id: 1,
    date: 1,
    chat: { id: CHAT, type: 'private', first_name: 'Ada' },
    from: { id: CHAT, is_bot: false, first_name: 'Ada' },
    text: 'hi',
  }
  const update = JSON.stringify({ update_id: 9, message })
  expect([(await post(update, 'wrong')).status, (await post('{')).status, (await post(update)).status]).toEqual([
    401, 400, 200,
  ])
  expect(heard).toEqual(['telegram:110201543:9'])
  expect(() =>
    createTelegram({
      token: server.token,
      webhook: { url: 'https://x.test', secret: '' },
      fetch,
      clock: systemClock,
      logger: silentLogger,
    }),
  ).toThrow(/TELEGRAM_WEBHOOK_SECRET/)
})

it('follows a group that became a supergroup', async () => {
  const { server, platform } = await start()
  onTestFinished(() => server.close())
  server.fail('sendMessage', {
    type: 'error',
    code: 400,
    description: 'Bad Request: group chat was upgraded to a supergroup chat',
    parameters: { migrate_to_chat_id: -100_7 },
  })
  for (const text of ['one', 'two']) await platform.send({ target: { chatId: '-7' }, text, markup: 'plain' })
  expect(server.messages(-100_7).map(({ text }) => text)).toEqual(['one', 'two'])
})

it('hears an edit as it heard the message, without the name of the bot', async () => {
  const { server, platform } = await start()
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  const heard: string[] = []
  platform.connect({
    onState: () => undefined,
    hear: async (event) => {
      if (event.type === 'message' || event.type === 'edit') heard.push(`${event.type}: ${event.text}`)
    },
  })
  const chat = { id: -9, type: 'group', title: 'Tea' }
  const from = { id: 8, is_bot: false, first_name: 'Ada' }
  const message = { message_id: 5, date: 1, chat, from, text: '@hermes_test_bot look at https://tea.example' }
  server.push({ message })
  // Nobody changed a word: the link has got its preview.
  server.push({ edited_message: { ...message, edit_date: 2, link_preview_options: { url: 'https://tea.example' } } })
  const text = 'look at https://tea.example'
  await expect.poll(() => heard).toEqual([`message: ${text}`, `edit: ${text}`])
})

it('hears other chats while what one says is refused, keeps the order in it, and gives up what is refused for ever', async () => {
  const dropped: object[] = []
  const logger = { ...silentLogger, error: (_: string, fields: object = {}) => void dropped.push(fields) }
  const { server, platform } = await start({ clock: { ...systemClock, sleep: async () => undefined }, logger })
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  const heard: string[] = []
  let refusals = 2
  let attempts = 0
  platform.connect({
    onState: () => undefined,
    hear: async (event) => {
      if (event.type !== 'message') return
      if (event.text === 'poison') attempts++
      if (event.text === 'poison' || (event.text === 'first' && refusals-- > 0)) throw new Error('refused')
      heard.push(event.text)
    },
  })
  const poison = server.say('poison', { userId: 8 })
  server.say('first')
  server.say('second')
  server.say('elsewhere', { userId: 9 })
  await expect.poll(() => heard).toEqual(['elsewhere', 'first', 'second'])
  // Nothing else is taken meanwhile: for all that is known the store is gone.
  const before = attempts
  await expect.poll(() => attempts).toBeGreaterThan(before + 10)
  expect(dropped).toEqual([])
  for (const text of ['a', 'b', 'c', 'd']) {
    server.say(text, { userId: 9 })
    await expect.poll(() => heard.at(-1)).toBe(text)
  }
  await expect.poll(() => server.unconfirmed).toBe(0)
  expect(dropped).toEqual([{ update: poison }])
})

it('hears other chats while one takes long, keeps the order in that one, and confirms nothing that was not taken', async () => {
  const { server, platform } = await start()
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  const slow = Promise.withResolvers<void>()
  const heard: string[] = []
  const say = (chatId: number, text: string) => {
    const from = { id: chatId, is_bot: false, first_name: 'Ada' }
    server.push({ message: { message_id: 1, date: 1, chat: { id: chatId, type: 'private' }, from, text } })
  }
  platform.connect({
    onState: () => undefined,
    hear: async (event) => {
      if (event.type !== 'message') return
      if (event.text === 'a long recording') await slow.promise
      heard.push(event.text)
    },
  })
  say(8, 'a long recording')
  say(8, 'and what is in it?')
  say(9, 'one')
  await expect.poll(() => heard).toEqual(['one'])
  say(9, 'two')
  await expect.poll(() => heard).toEqual(['one', 'two'])
  expect(server.unconfirmed).toBe(4)
  // A group that becomes a supergroup is one chat under two ids.
  server.push({
    message: { message_id: 2, date: 1, chat: { id: 8, type: 'group' }, migrate_to_chat_id: -1008 } as never,
  })
  say(-1008, 'and now?')
  say(9, 'three')
  await expect.poll(() => heard).toEqual(['one', 'two', 'three'])
  slow.resolve()
  await expect.poll(() => heard.slice(3)).toEqual(['a long recording', 'and what is in it?', 'and now?'])
  await expect.poll(() => server.unconfirmed).toBe(0)
})

it('is asked less and less often while another program hears for the account, as while it cannot be reached', async () => {
  const clock = createFakeClock(1_000_000)
  const { server, platform } = await start({ clock })
  onTestFinished(async () => {
    await platform.close()
    await server.close()
  })
  const taken = { type: 'error', code: 409, description: 'Conflict: terminated by other getUpdates request' } as const
  server.fail('getUpdates', taken, 6)
  const waits: number[] = []
  platform.connect({
    hear: async () => undefined,
    onState: (state) => {
      if (state.type === 'waiting') waits.push((state.retryAtMs - clock.now()) / 1_000)
    },
  })
  for (let failures = 1; failures <= 6; failures++) {
    await expect.poll(() => [waits.length, platform.state]).toEqual([failures, expect.objectContaining({ failures })])
    await clock.advance(waits.at(-1)! * 1_000)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32])
  server.say('hello')
  await expect.poll(() => server.unconfirmed).toBe(0)
  expect(platform.state.type).toBe('connected')
})
