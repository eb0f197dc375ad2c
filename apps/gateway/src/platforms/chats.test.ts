// A person writes to a bot, and an agent answers: Telegram's Bot API, the store and the model server are real ones on loopback.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { createPairings } from '@hermes/platform'
import { openStorage } from '@hermes/storage'
import type { BotApiServer } from '@hermes/testkit/chats'
import { expect, it } from 'vitest'
import { chatStage as stage } from '../__fixtures__/chat-stage.js'

const texts = (bot: BotApiServer, chatId = 7) => bot.messages(chatId).map(({ text }) => text)
const until = (bot: BotApiServer, text: RegExp, chatId = 7) =>
  bot.waitFor(chatId, (messages) => messages.some((message) => text.test(message.text)))
const asks = (command: string) => ({ toolCalls: [{ name: 'terminal', args: { command } }] })

it('asks its owner about the project that it works in, once for a conversation', async () => {
  const { bot, server, work, start } = await stage()
  await mkdir(join(work, '.git'))
  await writeFile(join(work, 'AGENTS.md'), 'Be brief.')
  server.setHandler(() => ({ text: 'Hello.' }))
  await start()
  bot.say('hi')
  await until(bot, /^Hello/)
  bot.say('and now?')
  await bot.waitFor(7, (messages) => messages.filter(({ text }) => text === 'Hello.').length === 2)
  expect(
    texts(bot).filter((text) => /instructions: AGENTS\.md[\s\S]*Trust it\?\nAnswer with \/trust add/.test(text)),
  ).toHaveLength(1)
  bot.say('/trust add')
  await until(bot, /^Trusted: /)
  bot.say('/new')
  await until(bot, /new conversation/i)
  bot.say('hi again')
  await bot.waitFor(7, (messages) => messages.filter(({ text }) => text === 'Hello.').length === 3)
  expect(texts(bot).filter((text) => text.includes('Trust it?'))).toHaveLength(1)
})

it('answers a person once, however often the platform tells what they wrote, and keeps the conversation', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'Hello **Ada**.' }, { text: 'Again.' })
  await start()
  const update = bot.say('hi')
  await until(bot, /Hello Ada/)
  await expect.poll(() => bot.unconfirmed).toBe(0)
  bot.repeat(update)
  bot.say('and now?')
  await until(bot, /Again/)
  expect(texts(bot)).toEqual(['Hello Ada.', 'Again.'])
  expect(server.requests).toHaveLength(2)
  expect(server.violations).toEqual([])
  expect(bot.calls.some(({ method }) => method === 'sendChatAction')).toBe(true)
})

it('an extension drops what is written, before anybody is let in, and what it writes in its place is no command', async () => {
  const heard: string[] = []
  const filter: Extension = {
    name: 'filter',
    setup: ({ hooks }) =>
      void hooks.on('chat-message', ({ message: { text, sender } }) => {
        heard.push(`${sender.id} ${text}`)
        if (text.startsWith('spam')) return { type: 'drop' }
        return text === 'start over' ? { type: 'rewrite', text: '/new' } : undefined
      }),
  }
  const { bot, server, start } = await stage({}, {}, undefined, {}, [filter])
  server.setHandler(() => ({ text: 'Hello.' }))
  await start()
  bot.say('spam, spam', { userId: 9, name: 'Eve' })
  bot.say('spam')
  bot.say('start over')
  await until(bot, /^Hello/)
  expect(heard).toEqual(['9 spam, spam', '7 spam', '7 start over'])
  expect(texts(bot)).toEqual(['Hello.'])
  expect(bot.messages(9)).toEqual([])
  expect(JSON.stringify(server.requests[0]!.body.messages.at(-1))).toContain('/new')
})

it('asks extensions about the commands of chats, but not about an end', async () => {
  const strict: Extension = {
    name: 'strict',
    setup: ({ hooks }) => void hooks.on('before-command', () => ({ type: 'block', reason: 'Not here.' })),
  }
  const { bot, start } = await stage({}, {}, undefined, {}, [strict])
  await start()
  for (const line of ['/whoami', '/new', '/help', '/stop']) bot.say(line)
  await until(bot, /Nothing is running/)
  expect(texts(bot).filter((text) => text.includes('Not here.'))).toHaveLength(3)
  expect(texts(bot)).toHaveLength(4)
})

it('says nothing to strangers but a pairing code in private, and lets in who was paired', async () => {
  const { bot, server, home, start } = await stage()
  server.enqueue({ text: 'Welcome, Eve.' })
  await start()
  const eve = { userId: 9, name: 'Eve' }
  bot.say('hello in the group', { ...eve, chatId: -5, chatType: 'group', title: 'Friends' })
  bot.say('let me in', eve)
  bot.say('please', eve)
  const [message] = await until(bot, /pairing code/, 9)
  await expect.poll(() => bot.unconfirmed).toBe(0)
  expect([bot.messages(9).length, bot.messages(-5).length, server.requests.length]).toEqual([1, 0, 0])
  const pairings = createPairings({ folder: join(home, 'pairing'), clock: systemClock })
  await pairings.approve('telegram', /[A-Z2-9]{8}/.exec(message!.text)![0])
  expect(await readFile(join(home, 'pairing/telegram-approved.json'), 'utf8')).toContain('Eve')
  bot.say('hello', eve)
  await until(bot, /Welcome, Eve/, 9)
})

it("asks with buttons: the first press counts, a stranger's does not, and the message says who answered", async () => {
  const { bot, server, start } = await stage()
  server.enqueue(asks('rm -rf build'), { text: 'It is gone.' })
  await start()
  bot.say('clean up')
  const [question] = await until(bot, /waits for your approval/)
  expect(question!.text).toContain('rm -rf build')
  const data = (label: RegExp) => question!.buttons.flat().find(({ text }) => label.test(text))!.callback_data
  bot.press(question!, data(/once/), { userId: 66, name: 'Mallory' })
  bot.press(question!, data(/once/))
  bot.press(question!, data(/Deny/))
  await until(bot, /It is gone/)
  await until(bot, /Allowed once by Ada/)
  await expect.poll(() => bot.toasts.length).toBe(3)
  expect(bot.toasts).toEqual(['This button is not for you.', 'Allowed.', expect.stringMatching(/already|over/)])
  expect(server.requests).toHaveLength(2)
})

it('takes an answer after a restart, typed or pressed, and goes on where it was', async () => {
  const { bot, server, start } = await stage()
  server.enqueue(asks('rm -rf build'), { text: 'Refused, then.' })
  await start()
  bot.say('clean up')
  await until(bot, /waits for your approval/)
  await start()
  bot.say('/deny')
  await until(bot, /Refused, then/)
  await until(bot, /Denied by Ada/)
  expect(server.requests).toHaveLength(2)
  expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toMatch(/denied|refused|not permitted/i)
})

it('goes on when the answer comes from elsewhere, and shows who gave it', async () => {
  const { bot, server, start } = await stage()
  server.enqueue(asks('rm -rf build'), { text: 'It is gone.' })
  const { storage } = await start()
  bot.say('clean up')
  await until(bot, /waits for your approval/)
  const [approval] = await storage.approvals.pending()
  await storage.approvals.put({ ...approval!, status: 'answered', choice: 'once', by: 'terminal' })
  await until(bot, /It is gone/)
  await until(bot, /Allowed once by terminal/)
  expect(server.requests).toHaveLength(2)
})

it('asks what the model wants to know; a button, a number or words answer it', async () => {
  const { bot, server, start } = await stage()
  const question = { toolCalls: [{ name: 'clarify', args: { question: 'Which colour?', choices: ['red', 'blue'] } }] }
  server.enqueue(question, { text: 'Red it is.' }, question, { text: 'Fine.' })
  await start()
  bot.say('paint it')
  const [prompt] = await until(bot, /Which colour/)
  bot.press(prompt!, prompt!.buttons.flat()[0]!.callback_data)
  await until(bot, /Red it is/)
  bot.say('once more')
  await bot.waitFor(
    7,
    (messages) => messages.filter(({ text }) => /Which colour/.test(text) && !/✔/.test(text)).length === 1,
  )
  bot.say('green, with dots')
  await until(bot, /Fine/)
  expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('red')
  expect(JSON.stringify(server.requests[3]!.body.messages.at(-1))).toContain('green, with dots')
})

it('goes on with what a stop cut off, and says the answer once', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'half of it', fault: 'stall' }, { text: 'The whole answer.' })
  await start()
  bot.say('a long question')
  await expect.poll(() => server.requests.length).toBe(1)
  await start()
  await until(bot, /The whole answer/)
  expect(texts(bot).filter((text) => /whole/.test(text))).toHaveLength(1)
})

it('says that a message waits during a run, reads it next, and ends the run at /stop', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'half of it', fault: 'stall' }, { text: 'Now this.' })
  await start()
  bot.say('a long question')
  await expect.poll(() => server.requests.length).toBe(1)
  bot.say('and another one')
  await until(bot, /once I am done/)
  bot.say('/stop')
  await until(bot, /Now this/)
  expect(texts(bot)).toContain('Stopped.')
  expect(JSON.stringify(server.requests[1]!.body.messages)).toMatch(/a long question.*and another one/)
})

it('reads a new message at once where it interrupts, and tells a run where it steers', async () => {
  const { bot, server, start } = await stage({ display: { busy_input_mode: 'interrupt' } })
  server.enqueue({ text: 'half of it', fault: 'stall' }, { text: 'Changed course.' })
  await start()
  bot.say('a long question')
  await expect.poll(() => server.requests.length).toBe(1)
  bot.say('stop that, do this')
  await until(bot, /Changed course/)
  expect(server.requests).toHaveLength(2)
})

it('names who steers a run in a group, also in one that moves, and lets only its person or the owner allow things', async () => {
  const shared = { group_sessions_per_user: false, display: { busy_input_mode: 'steer' } }
  const { bot, server, work, start } = await stage(shared, { allowed_chats: ['-5', '-1005'] })
  const group = (chatId: number) => ({ chatId, chatType: 'group', title: 'Friends' }) as const
  const [bob, eve] = [
    { userId: 8, name: 'Bob' },
    { userId: 9, name: 'Eve' },
  ]
  const long = asks('rm -rf build; touch begun; until [ -e go ]; do sleep 0.05; done')
  server.enqueue(long, { text: 'It is gone.' })
  const { storage } = await start()
  bot.say('clean up', { ...group(-5), ...bob })
  const [question] = await until(bot, /waits for your approval/, -5)
  const once = question!.buttons.flat().find(({ text }) => /once/.test(text))!.callback_data
  bot.press(question!, once, { ...group(-5), ...eve })
  await expect.poll(() => bot.toasts.at(-1)).toBe('Only Bob or the owner of this Hermes allows that here.')
  bot.press(question!, once, { ...group(-5), ...bob })
  await expect.poll(() => existsSync(join(work, 'begun'))).toBe(true)
  bot.say('look at docs too', { ...group(-5), ...eve })
  bot.push({ message: { message_id: 99, date: 1, chat: { id: -5, type: 'group' }, migrate_to_chat_id: -1005 } })
  bot.say('and at tests', { ...group(-1005), ...eve })
  for (const line of ['/queue then the logs', '/steer and at logs']) bot.say(line, { ...group(-1005), ...eve })
  await expect.poll(async () => (await storage.meta.list('chat.action:')).length).toBe(4)
  await writeFile(join(work, 'go'), '')
  await until(bot, /It is gone/, -1005)
  const seen = JSON.stringify(server.requests[1]?.body)
  expect(seen).toContain('[Eve]\\nlook at docs too')
  expect(seen).toContain('[Eve]\\nand at tests')
  expect(seen).toContain('[Eve]\\nand at logs')
  expect(seen).toContain('[Eve]\\nthen the logs')
  const [session] = await storage.sessions.list({ limit: 1 })
  const entries = await storage.log.entries(session!.id)
  const marked = JSON.stringify(entries).match(/"sources":\[\{"type":"person","name":"a message of Eve"\}\]/g)
  expect(marked).toHaveLength(4)
})

it('asks in a group also where everything of a person alone is allowed by itself', async () => {
  const { bot, server, work, start } = await stage(
    { approvals: { unattended_mode: 'approve' } },
    { allowed_chats: ['-5'] },
  )
  server.setHandler(({ body }) =>
    body.messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : asks('rm -rf build; touch gone'),
  )
  await start()
  bot.say('clean up', { userId: 8, name: 'Bob', chatId: -5, chatType: 'group', title: 'Friends' })
  await until(bot, /waits for your approval/, -5)
  expect(existsSync(join(work, 'gone'))).toBe(false)
  bot.say('clean up')
  await until(bot, /^Done/)
  expect(existsSync(join(work, 'gone'))).toBe(true)
})

it('lets go of the account when it cannot begin, so that the next start can have it', async () => {
  const { bot, server, home, start } = await stage()
  const { storage, stop } = await start()
  await storage.meta.set('chat.action:telegram:1', 'no JSON')
  await stop()
  await expect(start()).rejects.toThrow('JSON')
  const store = await openStorage({ path: join(home, 'state.db') })
  await store.meta.set('chat.action:telegram:1', null)
  await store.close()
  server.enqueue({ text: 'Here I am.' })
  await start()
  bot.say('hi')
  await until(bot, /Here I am/)
})

it('says in one line why there is no answer, and tries again with the next message', async () => {
  const { bot, server, start } = await stage({ agent: { api_max_retries: 0 } })
  server.enqueue(
    { fault: 'status', status: 400, body: { error: { message: 'no such thing' } } },
    { text: 'Better now.' },
  )
  await start()
  bot.say('hello')
  await until(bot, /⚠ .*no such thing/)
  bot.say('and now?')
  await until(bot, /Better now/)
})

it('carries commands out once: a new conversation, help, the state of things, and stop', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'One.' }, { text: 'Two.' })
  await start()
  bot.say('first')
  await until(bot, /One/)
  const update = bot.say('/new')
  bot.say('second')
  await until(bot, /Two/)
  await expect.poll(() => bot.unconfirmed).toBe(0)
  bot.repeat(update)
  bot.say('/help')
  await until(bot, /\/compress/)
  bot.say('/stop')
  await until(bot, /Nothing is running/)
  expect(texts(bot).filter((text) => text === 'A new conversation.')).toHaveLength(1)
  expect(JSON.stringify(server.requests[1]!.body.messages)).not.toContain('first')
})

it('says what comes of a goal in its chat, and why a run failed that began by itself', async () => {
  const { bot, server, start } = await stage()
  let turn = 0
  server.setHandler(({ body }) => {
    const text = JSON.stringify(body.messages)
    if (text.includes('You judge whether')) return { text: '{"verdict": "continue", "reason": "Not yet."}' }
    return turn++ === 0
      ? { text: 'Half of it.' }
      : { fault: 'status', status: 400, body: { error: { message: 'no such thing' } } }
  })
  await start()
  bot.say('/goal Paint it')
  await until(bot, /^Goal, turn 1 of \d+: Not yet/)
  await until(bot, /⚠ .*no such thing/)
  await until(bot, /^The goal waits: the run failed/)
})

it('hears what is written while a command takes long', async () => {
  const { bot, start } = await stage({ mcp_servers: { slow: { command: 'sleep', args: ['100'] } } })
  await start()
  bot.say('/mcp test slow')
  bot.say('/whoami')
  await until(bot, /the owner of this Hermes/)
  expect(texts(bot)).toHaveLength(1)
})

it('shows its owner what an agent wants to save, and saves it with a yes', async () => {
  const { bot, home, start } = await stage()
  const change = { action: 'create', name: 'brew', description: 'Brews coffee.', content: 'Grind first.' }
  const pending = { id: 'abc123', atMs: 1, sessionId: 's1', by: 'agent', why: 'text from outside was read', change }
  await mkdir(join(home, 'pending/skills'), { recursive: true })
  await writeFile(join(home, 'pending/skills/abc123.json'), JSON.stringify(pending))
  await start()
  bot.say('/skills pending')
  await until(bot, /abc123[\s\S]*create brew/)
  bot.say('/skills approve abc123')
  await expect
    .poll(() => readFile(join(home, 'skills/brew/SKILL.md'), 'utf8').catch(() => ''), { timeout: 10_000 })
    .toContain('Grind first.')
  bot.say('/journey list')
  await until(bot, /create brew: Brews coffee/)
})

it('does nothing that a forwarded message says; the model reads it as the words of somebody else', async () => {
  const { bot, server, start } = await stage()
  server.enqueue(asks('rm -rf build'), { text: 'I will not.' })
  await start()
  bot.say('clean up')
  await until(bot, /waits for your approval/)
  const forward_origin = { type: 'hidden_user', sender_user_name: 'Mallory', date: 1 }
  bot.say('/approve', { over: { forward_origin } })
  await until(bot, /I will not/)
  expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('somebody else wrote this')
  expect(texts(bot).join()).not.toContain('Allowed')
})

it('stays in the new conversation when a question of the former one is answered', async () => {
  const { bot, server, start } = await stage()
  server.enqueue(asks('rm -rf build'), { text: 'It is gone.' }, { text: 'Fresh.' })
  await start()
  bot.say('clean up')
  const [question] = await until(bot, /waits for your approval/)
  bot.say('/new')
  await until(bot, /A new conversation/)
  bot.press(question!, question!.buttons.flat()[0]!.callback_data)
  await until(bot, /It is gone/)
  bot.say('hello')
  await until(bot, /Fresh/)
  expect(JSON.stringify(server.requests[2]!.body.messages)).not.toContain('clean up')
})

it('lets an answer grow in its message, a new one after a tool, and leaves one of each', async () => {
  const { bot, server, start } = await stage({ streaming: { edit_interval: 0.02, buffer_threshold: 1 } })
  server.enqueue(
    {
      text: 'I look around first, carefully.',
      toolCalls: [{ name: 'todo_write', args: { todos: [{ id: '1', content: 'x', status: 'pending' }] } }],
    },
    { text: 'Everything **is** here, as far as I see.' },
    { text: 'half of it '.repeat(20), fault: 'stall', afterChunks: 2 },
  )
  await start()
  bot.say('look')
  await bot.waitFor(
    7,
    (messages) => messages.length === 2 && messages[1]!.text === 'Everything is here, as far as I see.',
  )
  expect(texts(bot)).toEqual(['I look around first, carefully.', 'Everything is here, as far as I see.'])
  bot.say('and again')
  await until(bot, /^half of it.* ▉$/)
  bot.say('/stop')
  // What there is of it stays, without the sign that more comes.
  await until(bot, /^half of it.*[^▉]$/)
})

it('lets an answer grow as a draft where the chat has them, sends the whole of it once, and keeps what a stop left of it', async () => {
  const { bot, server, start } = await stage({ streaming: { edit_interval: 0.02, buffer_threshold: 1 } })
  bot.offerDrafts()
  server.enqueue(
    { text: 'Everything **is** here, as far as I see.', chunkSize: 8, latencyMs: 100 },
    { text: 'half of it '.repeat(20), fault: 'stall', afterChunks: 2 },
  )
  await start()
  bot.say('look')
  await bot.waitFor(7, () => bot.drafts.has(7))
  expect([texts(bot), bot.drafts.get(7)!.text]).toEqual([[], expect.stringMatching(/^Everyth/)])
  await until(bot, /Everything is here, as far as I see\./)
  expect(texts(bot)).toEqual(['Everything is here, as far as I see.'])
  bot.say('and again')
  await bot.waitFor(7, () => bot.drafts.get(7)?.text.startsWith('half of it') === true)
  bot.say('/stop')
  await until(bot, /^half of it/)
  expect(bot.calls.filter(({ method }) => method === 'editMessageText')).toEqual([])
})

it('reads a burst of files, and the pieces of a long text, as one', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'Got all of it.' })
  await start()
  for (const name of ['a', 'b', 'c']) {
    bot.files.set(name, Buffer.from(`file ${name}`))
    bot.say('', { over: { document: { file_id: name, file_unique_id: name, file_name: `${name}.txt` } } })
  }
  bot.say('x'.repeat(3_600))
  bot.say('and the end of it')
  await until(bot, /Got all of it/)
  expect(server.requests).toHaveLength(1)
  const words = JSON.stringify(server.requests[0]!.body.messages)
  for (const part of ['a.txt', 'b.txt', 'c.txt', 'and the end of it']) expect(words).toContain(part)
})

it('has what a chat has of its own, sends news to its home, and says how platforms are doing', async () => {
  const channel_overrides = { 7: { model: 'other', system_prompt: 'Speak like a sailor.', skills: ['knots'] } }
  const { bot, server, start } = await stage({}, { channel_overrides })
  server.enqueue({ text: 'Ahoy.' })
  const { storage } = await start()
  bot.say('hi')
  await until(bot, /Ahoy/)
  expect(server.requests[0]!.body.model).toBe('other')
  const system = JSON.stringify(server.requests[0]!.body.messages[0])
  expect(system).toMatch(/Speak like a sailor\..*read these skills before your first answer: knots\./)
  bot.say('/sethome')
  await until(bot, /News go here/)
  expect(await storage.meta.get('platform.home:telegram')).toBe('7')
  bot.say('/platform')
  await until(bot, /telegram: hears as @hermes_test_bot/)
  bot.say('/platform pause telegram')
  await until(bot, /Here nothing would be heard any more.*hermes gateway platforms pause telegram/)
  bot.say('/platform resume pigeons')
  await until(bot, /Which platform\? resume telegram/)
  bot.say('/commands')
  await until(bot, /- \/sethome/)
})

it('begins anew after a long pause where config.yaml says so, not while something waits for an answer', async () => {
  const { bot, server, start } = await stage({ session_reset: { mode: 'idle', idle_minutes: 60 } })
  server.enqueue({ text: 'One.' }, { text: 'Two.' }, asks('rm -rf build'), { text: 'Four.' })
  const { storage } = await start()
  const longAgo = async () => {
    const [row] = await storage.meta.list('chat:')
    const { sessionId, ...chat } = JSON.parse(row!.value) as { sessionId: string }
    await storage.meta.set(row!.key, JSON.stringify({ ...chat, sessionId, heardAtMs: systemClock.now() - 7_200_000 }))
    return sessionId
  }
  const closed = () => expect.poll(async () => (await storage.meta.list('chat:'))[0]?.value).toContain('"isOpen":false')
  bot.say('one')
  await until(bot, /^One/)
  await closed()
  const first = await longAgo()
  bot.say('two')
  await until(bot, /new conversation/)
  await until(bot, /^Two/)
  await closed()
  expect(JSON.stringify(server.requests[1]!.body.messages)).not.toContain('One.')
  bot.say('clean up')
  await until(bot, /waits for your approval/)
  await closed()
  const second = await longAgo()
  expect(second).not.toBe(first)
  bot.say('/deny')
  await until(bot, /^Four/)
  expect(texts(bot).filter((text) => /new conversation/.test(text))).toHaveLength(1)
})

it('goes on with all that was open when the process ended again and again, one by one, and gives up what ended it alone', async () => {
  const { bot, server, start } = await stage({}, { allow_all_users: true })
  const held = Promise.withResolvers<void>()
  server.setHandler(() => held.promise.then(() => ({ text: 'Too late.' })))
  const { storage } = await start()
  const chats = [7, 8, 9]
  for (const userId of chats) bot.say(`what of ${userId}?`, { userId })
  await expect.poll(() => server.requests.length).toBe(3)
  for (const { key, value } of await storage.meta.list('chat:'))
    await storage.meta.set(key, JSON.stringify({ ...JSON.parse(value), begun: key.endsWith(':9') ? 5 : 3 }))
  let [atWork, most] = [0, 0]
  server.setHandler(async () => {
    most = Math.max(most, ++atWork)
    await new Promise((resolve) => setTimeout(resolve, 100))
    atWork--
    return { text: 'Here it is.' }
  })
  const { stop } = await start()
  await Promise.all([7, 8].map((userId) => until(bot, /Here it is/, userId)))
  await until(bot, /ended this program 5 times and is not tried again/, 9)
  expect(most).toBe(1)
  bot.say('again', { userId: 9 })
  await until(bot, /Here it is/, 9)
  await stop()
  held.resolve()
})

it('goes on in a chat whose session was removed', async () => {
  const { bot, server, start } = await stage()
  server.enqueue({ text: 'One.' }, { text: 'Two.' })
  const { storage } = await start()
  bot.say('one')
  await until(bot, /^One/)
  await expect.poll(async () => (await storage.meta.list('chat:'))[0]?.value).toContain('"isOpen":false')
  const [session] = await storage.sessions.list({ limit: 1 })
  await storage.sessions.update(session!.id, { endedAtMs: systemClock.now() })
  await storage.sessions.delete(session!.id)
  bot.say('two')
  await until(bot, /^Two/)
})
