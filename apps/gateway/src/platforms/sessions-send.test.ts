import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

const sends = (session: string, message: string) => ({
  toolCalls: [{ name: 'tool_call', args: { name: 'sessions_send', arguments: { session, message } } }],
})

it('wakes another session of the person, not one of anybody else, and two that answer each other come to an end', async () => {
  const { bot, server, start } = await chatStage(
    { people: { owner: { telegram: ['7', '17'] } } },
    { allowed_users: ['8'] },
  )
  const { storage } = await start()
  server.setHandler(() => ({ text: 'Hello.' }))
  for (const userId of [7, 17, 8]) {
    bot.say(`I am ${userId}`, { userId })
    await bot.waitFor(userId, (all) => all.length === 1)
  }
  const all = await storage.sessions.list()
  const idOf = (userId: number) => all.find(({ preview }) => preview === `I am ${userId}`)!.id
  const [one, other, bobs] = [idOf(7), idOf(17), idOf(8)]
  // Each answers whatever the other writes; what a person says is answered once.
  server.setHandler(({ body }) => {
    const last = JSON.stringify(body.messages.at(-1))
    if (/Written to|enough|no other session/.test(last)) return { text: /enough/.test(last) ? 'Enough.' : 'Written.' }
    if (last.includes('ask Bob')) return sends(bobs, 'Hi.')
    return sends(JSON.stringify(body.messages).includes('I am 17') ? one : other, 'How are you?')
  })
  bot.say('ask Bob')
  await bot.waitFor(7, (messages) => messages.length === 2)
  expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).toContain(
    `There is no other session \\"${bobs}\\"`,
  )
  bot.say('ask the other one')
  await bot.waitFor(7, (messages) => messages.some(({ text }) => text === 'Enough.'))
  const heard = JSON.stringify(server.requests.at(-1)!.body.messages)
  expect(heard).toContain(`Another session of the same person, ${other}, writes to you.`)
  expect(await storage.inbox.waiting(bobs)).toEqual([])
  await expect
    .poll(() => bot.messages(17).map(({ text }) => text))
    .toEqual(['Hello.', 'Written.', 'Written.', 'Written.'])
  expect(server.violations).toEqual([])
})
