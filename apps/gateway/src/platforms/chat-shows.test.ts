// What chats show beside answers: calls of tools, a line on what made an answer, the end of tasks in the background, conversations by topic.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ChatStage, chatStage } from '../__fixtures__/chat-stage.js'

const call = (command: string) => ({ toolCalls: [{ name: 'terminal', args: { command } }] })
const texts = ({ bot }: ChatStage, chat = 7) => bot.messages(chat).map(({ text }) => text)
const answered = (stage: ChatStage, text: string, chat = 7) =>
  stage.bot.waitFor(chat, (all) => all.some((message) => message.text.includes(text)))

it('shows calls of tools in one message that grows, as the platform is set to, and secrets in none', async () => {
  const display = { platforms: { telegram: { tool_progress: 'all' } } }
  const stage = await chatStage({ display, streaming: { enabled: false, edit_interval: 0.05 } })
  await stage.start()
  stage.server.enqueue(call('echo one'), call('echo two'), call(`echo ${stage.bot.token}`), { text: 'done one' })
  stage.bot.say('go')
  await answered(stage, 'done one')
  await expect.poll(() => texts(stage)[0]).toMatch(/echo one[\s\S]*\n.*echo two[\s\S]*\n/)
  expect(texts(stage)).toEqual([expect.stringMatching(/^💻?.*terminal: .*echo one/u), 'done one'])
  expect(texts(stage)[0]!.split('\n')).toHaveLength(3)
  expect(JSON.stringify(stage.bot.calls)).not.toContain(stage.bot.token)
})

it('shows what its person chooses by /verbose, also in a new conversation and after a restart', async () => {
  const stage = await chatStage({ streaming: { enabled: false, edit_interval: 0.05 } })
  await stage.start()
  stage.server.enqueue(call('echo hidden'), { text: 'done one' }, call('echo seen'), { text: 'done two' })
  stage.bot.say('go')
  await answered(stage, 'done one')
  expect(texts(stage)).toEqual(['done one'])
  stage.bot.say('/verbose loud')
  await answered(stage, 'Write /verbose off')
  stage.bot.say('/verbose verbose')
  await answered(stage, 'Calls of tools: verbose.')
  stage.bot.say('/new')
  await answered(stage, 'A new conversation.')
  await stage.start()
  stage.bot.say('go on')
  await answered(stage, 'done two')
  await expect.poll(() => texts(stage).find((text) => text.includes('echo seen'))).toMatch(/echo seen\n {3}→ .*seen/)
  stage.bot.say('/verbose')
  await answered(stage, 'Calls of tools: off.')
})

it('tells after an answer what made it where its person wants that', async () => {
  const stage = await chatStage()
  await stage.start()
  stage.server.enqueue({ text: 'plain' }, { text: 'with a line' })
  stage.bot.say('one')
  await answered(stage, 'plain')
  stage.bot.say('/footer')
  await answered(stage, 'is on from now on')
  stage.bot.say('two')
  await answered(stage, ' of the context')
  expect(texts(stage).slice(-2)).toEqual(['with a line', expect.stringMatching(/^m · \d+ % of the context · work$/)])
  stage.bot.say('/footer status')
  await answered(stage, 'is on.')
})

it('keeps what a group sees to who began the conversation, and the owner', async () => {
  const stage = await chatStage({ group_sessions_per_user: false }, { allow_all_users: true })
  await stage.start()
  const group = { chatId: -5, chatType: 'group', title: 'G' } as const
  stage.server.enqueue({ text: 'hello' })
  stage.bot.say('hi', { ...group, userId: 8, name: 'Bob' })
  await answered(stage, 'hello', -5)
  stage.bot.say('/verbose all', { ...group, userId: 9, name: 'Eve' })
  await answered(stage, 'Only Bob or the owner', -5)
  stage.bot.say('/verbose all', { ...group, userId: 8, name: 'Bob' })
  await answered(stage, 'Calls of tools: all.', -5)
})

it('lists the conversations of a chat by topic, and goes on with a session of the same person in this one', async () => {
  const stage = await chatStage({}, { allow_all_users: true })
  const { storage } = await stage.start()
  stage.server.enqueue(
    { text: 'of the first' },
    { text: 'of the second' },
    { text: 'of another' },
    { text: 'it goes on' },
  )
  stage.bot.say('about ships', { threadId: 3 })
  await answered(stage, 'of the first')
  stage.bot.say('about trains', { threadId: 4 })
  await answered(stage, 'of the second')
  stage.bot.say('mine alone', { userId: 8, name: 'Bob' })
  await answered(stage, 'of another', 8)
  const sessions = await storage.sessions.list({ limit: 10 })
  const of = (words: string) => sessions.find(({ preview }) => preview.includes(words))!.id
  stage.bot.say('/topic', { threadId: 4 })
  const shown = await answered(stage, 'Each topic is a conversation')
  expect(shown.at(-1)!.text).toMatch(/topic 3: about ships[\s\S]*topic 4 \(this one\): about trains/)
  expect(shown.at(-1)!.text).not.toContain('mine alone')
  stage.bot.say(`/topic ${of('mine alone')}`, { threadId: 4 })
  await answered(stage, 'You have no session')
  stage.bot.say(`/topic ${of('about ships')}`, { threadId: 4 })
  await answered(stage, 'goes on here')
  stage.bot.say('and now?', { threadId: 4 })
  const all = await answered(stage, 'it goes on')
  expect(all.find(({ text }) => text === 'it goes on')!.threadId).toBe(4)
  expect(JSON.stringify(stage.server.requests.at(-1)!.body.messages)).toMatch(/about ships/)
  await answered(stage, 'goes on in another topic')
  expect(texts(stage)).toContainEqual(expect.stringMatching(/about ships.* goes on in another topic/))
})

it('tells in the chat that it came from what a task and a process in the background came to', async () => {
  const stage = await chatStage()
  const go = join(stage.work, 'go')
  const background = { command: `until [ -e ${go} ]; do sleep 0.05; done; echo built`, background: true }
  stage.server.setHandler(({ body }) => {
    const newest = JSON.stringify(body.messages.at(-1)!.content)
    if (JSON.stringify(body.messages[0]).includes('You were started by another agent')) return { text: 'Three apples.' }
    if (newest.includes('Three apples')) return { text: 'The task counted three.' }
    if (newest.includes('build it'))
      return { toolCalls: [{ name: 'terminal', args: { ...background, notify_on_complete: true } }] }
    if (newest.includes('Started in the background')) return { text: 'It builds.' }
    return { text: newest.includes('built') ? 'The build is done.' : 'What?' }
  })
  await stage.start()
  // Before anything was said in this conversation.
  stage.bot.say('/background count apples')
  await answered(stage, 'The task counted three.')
  stage.bot.say('build it', { threadId: 3 })
  await answered(stage, 'It builds.')
  await writeFile(go, '')
  const all = await answered(stage, 'The build is done.')
  expect(all.find(({ text }) => text === 'The build is done.')!.threadId).toBe(3)
  expect(texts(stage)).toContainEqual(expect.stringMatching(/^✓ The task 1 in the background is done\./))
})
