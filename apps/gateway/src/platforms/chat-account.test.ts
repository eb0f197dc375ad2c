import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

const keyOf = (label: string) => `canary-key-of-${label}`

it('lets a chat choose its login: its next request carries the other key, other chats and what was said stay as they were', async () => {
  const owner = { people: { owner: { telegram: ['7', '17'] } } }
  const stage = await chatStage({}, { channel_overrides: { 7: { provider: 'lab' }, 17: { provider: 'lab' } } })
  const file = join(stage.home, 'config.yaml')
  const config = JSON.parse(await readFile(file, 'utf8')) as object
  const lab = { providers: { lab: { base_url: stage.server.baseUrl } }, model: { provider: 'lab', default: 'm' } }
  await writeFile(file, JSON.stringify({ ...config, ...owner, ...lab }))
  const pool = ['work', 'home'].map((label, priority) => {
    return { id: `id${priority}`, label, auth_type: 'api_key', priority, source: 'manual', access_token: keyOf(label) }
  })
  const auth = { version: 1, credential_pool: { 'custom:lab': pool } }
  await writeFile(join(stage.home, 'auth.json'), JSON.stringify(auth), { mode: 0o600 })
  await stage.start()
  const { bot, server } = stage
  server.setHandler(({ number }) => ({ text: `answer ${number}.` }))
  const says = async (userId: number, text: string, isWanted: (text: string) => boolean) => {
    const before = bot.messages(userId).length
    bot.say(text, { userId })
    await bot.waitFor(userId, (all) => all.slice(before).some((message) => isWanted(message.text)))
  }
  const isAnswer = (text: string) => text.startsWith('answer ')
  const lastKey = () => String(server.requests.at(-1)!.headers['authorization'])
  const lastMessages = () => JSON.stringify(server.requests.at(-1)!.body.messages)
  await says(7, '/account work', (text) => text.includes('work'))
  await says(7, 'one', isAnswer)
  expect(lastKey()).toBe(`Bearer ${keyOf('work')}`)
  const first = lastMessages()
  await says(7, '/account home', (text) => text.includes('home'))
  await says(7, 'two', isAnswer)
  expect(lastKey()).toBe(`Bearer ${keyOf('home')}`)
  // What the model was sent before keeps its bytes, and holds no word of the command.
  expect(lastMessages().startsWith(first.slice(0, -1))).toBe(true)
  expect(lastMessages()).not.toContain('/account')
  await says(17, '/account work', (text) => text.includes('work'))
  await says(17, 'three', isAnswer)
  expect(lastKey()).toBe(`Bearer ${keyOf('work')}`)
  await stage.start()
  await says(7, 'four', isAnswer)
  expect(lastKey()).toBe(`Bearer ${keyOf('home')}`)
  expect(lastMessages().startsWith(first.slice(0, -1))).toBe(true)
  expect(server.violations).toEqual([])
  // A key stands in nothing that a chat was told.
  expect(JSON.stringify(bot.calls)).not.toContain('canary-key-of-')
})
