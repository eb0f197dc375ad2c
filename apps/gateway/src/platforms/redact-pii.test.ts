// Ids of people and chats do not reach the model where config.yaml says so, and what it writes to their aliases reaches them all the same.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

const calls = (args: object) => ({
  toolCalls: [{ name: 'tool_call', args: { name: 'send_message', arguments: args } }],
})

it('gives the model aliases that stay the same, and takes them as targets of messages that a person is asked about by id', async () => {
  const ADA = 7_700_123_456
  const BOB = 8_800_123_456
  const group = { chatId: -100_555_666_777, chatType: 'group', title: 'G' } as const
  const config = { privacy: { redact_pii: true }, people: { owner: { telegram: [String(ADA)] } } }
  const stage = await chatStage(
    { ...config, group_sessions_per_user: false },
    { allowed_users: [String(BOB)], allowed_chats: [String(group.chatId)] },
  )
  const { bot, server, start } = stage
  await start()
  const sentToModel = () => JSON.stringify(server.requests.map(({ text }) => text))
  const last = () => JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
  const answered = (chat: number, text: string) => bot.waitFor(chat, (all) => all.some((one) => one.text === text))
  server.enqueue({ text: 'Hello group.' }, calls({ action: 'list' }), { text: 'Listed.' })
  // Who has no name is known by their id.
  bot.say('hi', { ...group, userId: BOB, name: String(BOB) })
  await answered(group.chatId, 'Hello group.')
  const [, alias] = /\[(id_[0-9a-f]{12})\]/.exec(last())!
  bot.say('whom can you write to?', { userId: ADA })
  await answered(ADA, 'Listed.')
  expect(last()).toContain(`telegram:${alias}`)
  await start()
  // This process has told nobody yet whom it stands for.
  const message = { target: `telegram:${alias}`, message: 'Dinner at eight.' }
  server.enqueue(calls(message), { text: 'Told.' })
  bot.say('tell Bob when dinner is', { userId: ADA })
  const once = async (target: string) => {
    const isIt = ({ text }: { readonly text: string }) =>
      text.includes('waits for your approval') && text.includes(target)
    const question = (await bot.waitFor(ADA, (all) => all.some(isIt))).find(isIt)!
    bot.press(question, question.buttons.flat().find(({ text }) => /once/.test(text))!.callback_data, { userId: ADA })
  }
  await once(`send to telegram:${BOB}`)
  await answered(ADA, 'Told.')
  expect(bot.messages(BOB).map(({ text }) => text)).toEqual(['Dinner at eight.'])
  expect(last()).toContain(`Sent to telegram:${alias}`)
  for (const id of [ADA, BOB, group.chatId]) expect(sentToModel()).not.toContain(String(Math.abs(id)))
  expect(server.violations).toEqual([])
})

it('looks at rules by id at the first use of an alias, and tells the model of none', async () => {
  const [ADA, BOB] = [7_700_123_456, 8_800_123_456]
  const config = {
    privacy: { redact_pii: true },
    people: { owner: { telegram: [String(ADA)] } },
  }
  const { bot, server, home, start } = await chatStage(config, { allowed_users: [String(BOB)] })
  await writeFile(join(home, 'permissions.yaml'), JSON.stringify({ [`send(telegram:${BOB})`]: 'deny' }))
  await start()
  const last = () => JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
  const answered = (text: string) => bot.waitFor(ADA, (all) => all.some((one) => one.text === text))
  server.enqueue(calls({ action: 'list' }), { text: 'Listed.' })
  bot.say('whom can you write to?', { userId: ADA })
  await answered('Listed.')
  const alias = /telegram:(id_[0-9a-f]{12}) {2}may talk/.exec(last())![1]
  await start()
  const nobody = 'telegram:id_000000000000'
  server.enqueue(
    calls({ target: `telegram:${alias}`, message: 'Hello.' }),
    calls({ target: nobody, message: 'Hello.' }),
    { text: 'I may not.' },
  )
  bot.say('write to Bob, then to nobody', { userId: ADA })
  await answered('I may not.')
  const results = server.requests.slice(-2).map(({ body }) => JSON.stringify(body.messages.at(-1)))
  expect(results[0]).toMatch(/Not permitted/)
  expect(results[0]).toContain(alias)
  expect(results[1]).toContain(`${nobody} stands for nobody`)
  expect([bot.messages(BOB), JSON.stringify(server.requests).includes(String(BOB))]).toEqual([[], false])
  expect(bot.messages(ADA).filter(({ text }) => text.includes('waits for your approval'))).toEqual([])
})
