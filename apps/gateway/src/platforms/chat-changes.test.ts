// What becomes of a chat while it is talked in: messages that change, groups with another id, people who want no more messages.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

const chat = { id: 7, type: 'private', first_name: 'Ada' }
const from = { id: 7, is_bot: false, first_name: 'Ada' }
const wait = {
  toolCalls: [{ name: 'terminal', args: { command: 'touch begun; until [ -e go ]; do sleep 0.05; done' } }],
}

it.each(['steer', 'queue'])(
  'tells the model how a message reads now that was changed while it was answered or waited (%s)',
  async (mode) => {
    const { bot, server, work, start } = await chatStage({ display: { busy_input_mode: mode } })
    server.enqueue(wait, { text: 'Done.' }, { text: 'That too.' })
    await start()
    const change = (messageId: number, text: string) =>
      bot.push({ edited_message: { message_id: messageId, date: 1, edit_date: 2, chat, from, text } })
    bot.say('sort the files by name', { over: { message_id: 51 } })
    await expect.poll(() => existsSync(join(work, 'begun'))).toBe(true)
    const changed = mode === 'steer' ? 51 : 52
    if (mode === 'queue') bot.say('then list', { over: { message_id: 52 } })
    change(changed, 'sort the files by size')
    // The same words again, such as with a preview of a link.
    change(changed, 'sort the files by size')
    await expect.poll(() => bot.unconfirmed).toBe(0)
    await writeFile(join(work, 'go'), '')
    await bot.waitFor(7, (all) => all.some(({ text }) => text === (mode === 'steer' ? 'Done.' : 'That too.')))
    const seen = JSON.stringify(server.requests.at(-1)!.body.messages.slice(1))
    expect(seen.match(/I changed my last message\. It says now:\\nsort the files by size/g)).toHaveLength(1)
    const count = server.requests.length
    change(changed, 'sort nothing')
    await expect.poll(() => bot.unconfirmed).toBe(0)
    expect(server.requests).toHaveLength(count)
  },
)

it('goes on in a group that got another id, after a restart too, and news go there', async () => {
  const { bot, server, start } = await chatStage({}, { allowed_chats: ['-5'] })
  server.setHandler(({ body }) => ({ text: `${body.messages.filter(({ role }) => role === 'user').length} so far.` }))
  const { storage } = await start()
  const group = (chatId: number) => ({ chatId, chatType: 'group' as const, title: 'Friends' })
  bot.say('hello', { ...group(-5), userId: 9, name: 'Eve' })
  await bot.waitFor(-5, (all) => all.some(({ text }) => text === '1 so far.'))
  bot.say('/sethome', group(-5))
  await bot.waitFor(-5, (all) => all.some(({ text }) => text.startsWith('News go here')))
  bot.push({ message: { message_id: 99, date: 1, chat: { id: -5, type: 'group' }, migrate_to_chat_id: -1005 } })
  // By somebody whom config.yaml does not name: the group is the one that it allows.
  bot.say('and now?', { ...group(-1005), userId: 9, name: 'Eve' })
  await bot.waitFor(-1005, (all) => all.some(({ text }) => text === '2 so far.'))
  expect(await storage.meta.get('platform.home:telegram')).toBe('-1005')
  await start()
  bot.say('still there?', { ...group(-1005), userId: 9, name: 'Eve' })
  await bot.waitFor(-1005, (all) => all.some(({ text }) => text === '3 so far.'))
})

it('gives up what a person who blocked the bot was to be told, and answers when they write again', async () => {
  const { bot, server, start } = await chatStage()
  server.setHandler(() => ({ text: 'Hello.' }))
  const { storage } = await start()
  bot.fail('sendMessage', { type: 'error', code: 403, description: 'Forbidden: bot was blocked by the user' })
  bot.say('hi')
  await expect
    .poll(async () => (await storage.outbox.list({ state: 'failed' })).map(({ error }) => error))
    .toEqual(['Telegram refused it: Forbidden: bot was blocked by the user (403).'])
  bot.say('hi again')
  await bot.waitFor(7, (all) => all.some(({ text }) => text === 'Hello.'))
  expect(bot.messages(7)).toHaveLength(1)
})
