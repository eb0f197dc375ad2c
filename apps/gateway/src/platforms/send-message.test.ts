// Messages from one conversation to the chat of another: who agreed is written to, nobody else, and the other conversation hears of it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { createPairings } from '@hermes/platform'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

const sends = (target: string, message: string) => ({
  toolCalls: [{ name: 'tool_call', args: { name: 'send_message', arguments: { target, message } } }],
})
const lists = { toolCalls: [{ name: 'tool_call', args: { name: 'send_message', arguments: { action: 'list' } } }] }
const ASKS = { allowed_users: ['8'] }

it('writes to who agreed once its person allows it, says so truthfully, and their conversation hears of it', async () => {
  const { bot, server, work, start } = await chatStage({}, ASKS)
  await writeFile(join(work, 'plan.txt'), 'the plan')
  server.enqueue({ text: 'Hello Bob.' })
  await start()
  const bob = { userId: 8, name: 'Bob' }
  bot.say('hi', bob)
  await bot.waitFor(8, (all) => all.some(({ text }) => text === 'Hello Bob.'))
  server.enqueue(lists, sends('telegram:8', `Dinner at **eight**.\nMEDIA:${join(work, 'plan.txt')}`), { text: 'Told.' })
  bot.say('tell Bob when dinner is')
  const [question] = await bot.waitFor(7, (all) => all.some(({ text }) => /waits for your approval/.test(text)))
  expect(question!.text).toMatch(/send to telegram:8/i)
  expect(bot.messages(8)).toHaveLength(1)
  bot.press(question!, question!.buttons.flat().find(({ text }) => /once/.test(text))!.callback_data)
  await bot.waitFor(7, (all) => all.some(({ text }) => text === 'Told.'))
  expect(bot.messages(8).map(({ text, file }) => file?.name ?? text)).toEqual([
    'Hello Bob.',
    'Dinner at eight.',
    'plan.txt',
  ])
  const results = JSON.stringify(server.requests.at(-1)!.body.messages)
  expect(results).toContain('Sent to telegram:8.')
  expect(JSON.stringify(server.requests.at(-2)!.body.messages.at(-1))).toMatch(/telegram:8 .*may talk to the agent/)
  server.enqueue({ text: 'At eight, yes.' })
  bot.say('is that right?', bob)
  await bot.waitFor(8, (all) => all.some(({ text }) => text === 'At eight, yes.'))
  const heard = JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
  expect(heard).toMatch(
    /Sent to this chat from another conversation, not by you:.*Dinner at \*\*eight.*the file plan\.txt.*is that right\?/,
  )
  expect(server.violations).toEqual([])
})

it('writes to nobody who did not agree, whoever allows it, and shows others who is known to none but the owner', async () => {
  const { bot, server, home, start } = await chatStage({}, ASKS)
  await start()
  const pairings = createPairings({ folder: join(home, 'pairing'), clock: systemClock })
  const code = await pairings.request('telegram', { id: '9', name: 'Eve' })
  const answered = async (userId: number, text: string) => {
    bot.say('go on', { userId })
    await bot.waitFor(userId, (all) => all.some((message) => message.text === text))
    return JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
  }
  await writeFile(join(home, 'permissions.yaml'), "'send(telegram:*)': allow\n", { mode: 0o600 })
  server.enqueue(sends('telegram:9', 'Boo.'), { text: 'Not told.' })
  expect(await answered(7, 'Not told.')).toMatch(/telegram:9 did not agree to hear from this agent/)
  await pairings.approve('telegram', code!)
  server.enqueue(sends('telegram:9', 'Boo.'), { text: 'Told.' })
  expect(await answered(7, 'Told.')).toContain('Sent to telegram:9.')
  server.enqueue(sends('telegram:9', 'Boo.'), { text: 'No.' })
  expect(await answered(8, 'No.')).toMatch(/did not agree/)
  server.enqueue(lists, { text: 'Listed.' })
  expect(await answered(8, 'Listed.')).not.toMatch(/Eve|telegram:9|telegram:7/)
  expect(bot.messages(9).map(({ text }) => text)).toEqual(['Boo.'])
})

it('is nothing that a session of a group has, unless config.yaml gives it back', async () => {
  const answerWith = async (groups: object) => {
    const { bot, server, start } = await chatStage({ groups }, { allowed_chats: ['-5'] })
    await start()
    server.enqueue(lists, { text: 'Listed.' })
    bot.say('who is there?', { chatId: -5, chatType: 'group', title: 'G' })
    await bot.waitFor(-5, (all) => all.some(({ text }) => text === 'Listed.'))
    return JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
  }
  expect(await answerWith({})).toContain('There is no tool')
  expect(await answerWith({ without_toolsets: [] })).not.toContain('There is no tool')
})
