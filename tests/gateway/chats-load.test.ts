// Many chats at once, and a gateway that is killed again and again: nothing is lost, nothing is answered twice, and each chat keeps its order.
// HERMES_TEST_CHAT_MESSAGES is how many messages come (10,000 in a long run), HERMES_TEST_CHAT_ANSWERS after how many answers a gateway is killed.
import { once } from 'node:events'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { startBotApiServer } from '@hermes/testkit/chats'
import { expect, it, onTestFinished } from 'vitest'
import { writeChatHome } from '../support/chat-home.js'
import { type Gateway, startGateway } from '../support/gateway.js'

const MESSAGES = Number(process.env['HERMES_TEST_CHAT_MESSAGES'] ?? 24)
const ANSWERS = Number(process.env['HERMES_TEST_CHAT_ANSWERS'] ?? 10)
const PER_CHAT = 12
const CHATS = Math.ceil(MESSAGES / PER_CHAT)
const FIRST_CHAT = 1_000
/** Said of what may have been sent before. */
const MARK = /repetition/

it('loses none of many messages, answers none twice, and keeps the order of each chat, killed every few seconds', async () => {
  const [home, server, bot] = [await temporaryHome(), await startModelServer(), await startBotApiServer()]
  await writeChatHome(home.path, { base_url: bot.url, allow_all_users: true })
  const heard = new Map<number, readonly number[]>()
  server.setHandler(({ body }) => {
    const words = body.messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content))
    const found = [...words.join().matchAll(/chat (\d+) message (\d+)\./g)]
    const [chat, ...numbers] = [Number(found[0]![1]), ...found.map(([, , number]) => Number(number))]
    if (numbers.length >= (heard.get(chat)?.length ?? 0)) heard.set(chat, numbers)
    return { text: `answer to ${numbers.at(-1)} of ${chat}` }
  })
  let gateway!: Gateway
  const start = async () => {
    const options = { home: home.path, cwd: join(home.path, 'work'), env: { TELEGRAM_BOT_TOKEN: bot.token } }
    gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'test'], options)
  }
  await start()
  onTestFinished(async () => {
    await gateway.stop()
    await Promise.all([server.close(), bot.close(), home.remove()])
  })
  const chats = Array.from({ length: CHATS }, (_, index) => FIRST_CHAT + index)
  const answers = (chat: number) => bot.messages(chat).filter(({ text }) => text.includes('answer to '))
  const lacksAnswer = (number: number) => (chat: number) =>
    !answers(chat).some(({ text }) => text.includes(`answer to ${number} of ${chat}`))
  const over = Promise.withResolvers<'over'>()
  const killing = (async () => {
    const next = () => server.waitForRequests(server.requests.length + ANSWERS).then(() => 'answered' as const)
    for (let kills = 0; ; kills++) {
      if ((await Promise.race([next(), over.promise])) === 'over') return kills
      const ended = once(gateway.child, 'exit')
      gateway.child.kill('SIGKILL')
      // As a supervisor does.
      await ended
      await start()
    }
  })()
  // Two of each chat at once, which may be answered together or one by one.
  for (let number = 1; number < PER_CHAT; number += 2) {
    for (const chat of chats)
      for (const one of [number - 1, number]) bot.say(`chat ${chat} message ${one}.`, { userId: chat })
    const left = () => chats.filter(lacksAnswer(number))
    await expect.poll(left, { timeout: 600_000, interval: 50 }).toEqual([])
  }
  over.resolve('over')
  const kills = await killing
  const inOrder = Array.from({ length: PER_CHAT }, (_, number) => number)
  let marked = 0
  for (const chat of chats) {
    expect([chat, heard.get(chat)]).toEqual([chat, inOrder])
    const texts = answers(chat).map(({ text }) => text)
    marked += texts.filter((text) => MARK.test(text)).length
    const plain = texts.filter((text) => !MARK.test(text))
    expect([chat, plain]).toEqual([chat, [...new Set(plain)]])
  }
  console.info(
    `${CHATS * PER_CHAT} messages in ${CHATS} chats, ${kills} kills: 0 lost, 0 answered twice, ${marked} perhaps sent twice and marked`,
  )
}, 3_600_000)
