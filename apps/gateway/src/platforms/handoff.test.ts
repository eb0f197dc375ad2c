// One session through two places: a terminal, which is another runtime on the same home, and a chat.
import { dirname } from 'node:path'
import { readLine, runCommand, toPlainText } from '@hermes/commands'
import { createSessionHost, openCommandContext, type SessionHandle } from '@hermes/host'
import { openRuntime } from '@hermes/runtime'
import { expect, it, onTestFinished } from 'vitest'
import { type ChatStage, chatStage } from '../__fixtures__/chat-stage.js'

async function openTerminal({ home, work, server }: ChatStage) {
  const userHome = dirname(home)
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
  const runtime = await openRuntime({ home, userHome, env, cwd: work, user: 'ada', tempDir: userHome })
  const host = createSessionHost({ runtime })
  onTestFinished(async () => {
    await host.close()
    await runtime.close()
  })
  const open = (sessionId?: string) =>
    host.open({
      ...{ platform: 'cli', baseUrl: server.baseUrl, model: 'm', cwd: work, permissions: 'deny' },
      ...(sessionId === undefined ? {} : { sessionId }),
    })
  const type = async (handle: SessionHandle, line: string, platform = 'cli') => {
    const all = runtime.extensions.list('command').map(({ item }) => item)
    const typed = readLine(line, all, all)
    if (typed.type !== 'command') throw new Error(`${line} is no command`)
    const context = await openCommandContext({
      ...{ runtime, host, handle, cwd: work, isBusy: () => false, notice: () => undefined },
      steer: (text: string) => handle.steer(text),
      caller: { platform, user: 'ada', isOwner: true, changes: ['new'] },
      signal: new AbortController().signal,
    })
    const outputs = await runCommand(typed.command, typed.args, context)
    return [toPlainText(outputs), ...outputs.flatMap((one) => (one.type === 'change' ? [one.change.type] : []))]
  }
  return { open, type }
}

it('moves a session into the chat that news go to, and back, and the other side says so', async () => {
  const stage = await chatStage()
  const { bot, server, start } = stage
  const until = (text: RegExp) => bot.waitFor(7, (all) => all.some((message) => text.test(message.text)))
  server.setHandler(({ body }) => ({ text: `${body.messages.filter(({ role }) => role === 'user').length} so far.` }))
  await start()
  const terminal = await openTerminal(stage)
  const handle = terminal.open()
  await handle.send('The number is 42.').result
  await expect(terminal.type(handle, '/handoff telegram')).rejects.toThrow(/type \/sethome in the chat/)
  await expect(terminal.type(handle, '/handoff')).rejects.toThrow(/It is in no chat\. Write \/handoff telegram\./)
  bot.say('/sethome')
  await until(/News go here/)
  const [reply, change] = await terminal.type(handle, '/handoff telegram')
  expect(reply).toBe(
    `It goes on in the home channel of telegram; its next message there is answered by a gateway that runs. In a terminal: hermes --resume ${handle.id}`,
  )
  expect(change).toBe('new')
  await handle.end('left')
  await until(/^“The number is 42\.” goes on here; it comes from the terminal\./)
  bot.say('which number?')
  await until(/^2 so far/)
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('The number is 42.')
  bot.say('/handoff')
  await until(new RegExp(`^Here a new conversation begins\\. In a terminal: hermes --resume ${handle.id}`))
  const again = terminal.open(handle.id)
  expect((await again.send('And now?').result).text).toBe('3 so far.')
  bot.say('hello')
  await until(/^1 so far/)
  await terminal.type(again, '/handoff telegram')
  await until(/goes on here/)
  expect(await terminal.type(again, '/handoff', 'acp')).toEqual(['It goes on here alone; its chat was told.'])
  await until(/goes on in the editor\. Here a new conversation begins\./)
  expect(server.violations).toEqual([])
})

it('moves a session from one chat into another, and each has one of its own then', async () => {
  const { bot, server, start } = await chatStage({ people: { owner: { telegram: ['7', '17'] } } })
  const { storage } = await start()
  server.setHandler(() => ({ text: 'Hello.' }))
  const says = async (userId: number, text: string, answer: RegExp) => {
    bot.say(text, { userId })
    await bot.waitFor(userId, (all) => all.some((message) => answer.test(message.text)))
  }
  await says(7, '/sethome', /News go here/)
  await says(7, 'I am at home', /Hello/)
  await says(17, 'I am out', /Hello/)
  const rows = async () => {
    const chats = (await storage.meta.list('chat:')).map(({ value }) => JSON.parse(value))
    const sessionOf = (id: string) => chats.find(({ chat }) => chat.id === id).sessionId
    return [sessionOf('7'), sessionOf('17')] as const
  }
  await expect
    .poll(async () => (await storage.meta.list('chat:')).some(({ value }) => value.includes('"isOpen":true')))
    .toBe(false)
  const before = await rows()
  await says(17, '/handoff telegram', /It goes on in the home channel/)
  await bot.waitFor(7, (all) => all.some(({ text }) => /^“I am out” goes on here; it comes from telegram/.test(text)))
  const [home, other] = await rows()
  expect([home, before.includes(other)]).toEqual([before[1], false])
  server.setHandler(() => ({ text: 'Here it goes on.' }))
  await says(7, 'and now?', /Here it goes on/)
  expect(bot.messages(17).filter(({ text }) => /Here it goes on/.test(text))).toEqual([])
})
