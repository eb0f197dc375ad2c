import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatPlatform } from '@hermes/contracts/extension'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const lobby: ChatPlatform = {
  account: [
    { variable: 'LOBBY_URL', label: 'Address' },
    { variable: 'LOBBY_DOOR', label: 'Word of the door', isSecret: true },
  ],
  hint: 'You speak in a lobby.',
  open: () => Promise.reject(new Error('not opened here')),
}

async function open(config: object, platforms: Readonly<Record<string, unknown>>, env: Record<string, string> = {}) {
  const [home, server] = [await temporaryHome(), await startModelServer()]
  const model = { default: 'm', base_url: server.baseUrl }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, terminal: { isolation: 'off' }, ...config }))
  const place = { home: home.path, userHome: home.path, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({
    ...place,
    env: { PATH: process.env['PATH']!, ...env },
    yolo: true,
    extensions: (builtIn) => [
      ...builtIn,
      {
        name: 'brings',
        setup: (api) => {
          for (const [name, brought] of Object.entries(platforms))
            api.factories.add('platform', name, () => brought as ChatPlatform)
        },
      },
    ],
  })
  onTestFinished(async () => {
    await runtime.close()
    await server.close()
    await home.remove()
  })
  return { runtime, server }
}

const ACCOUNT = { LOBBY_URL: 'http://127.0.0.1:9', LOBBY_DOOR: 'open-sesame-1' }

it('a platform that an extension brings has its settings, hint, toolsets and secrets', async () => {
  const config = {
    platforms: { lobby: { allowed_users: ['bob'], room: 'blue' } },
    people: { owner: { lobby: ['ada'] } },
  }
  const { runtime, server } = await open(config, { lobby }, ACCOUNT)
  expect(runtime.problems).toEqual([])
  expect(runtime.chatPlatforms).toMatchObject([{ name: 'lobby', settings: { allowed_users: ['bob'], room: 'blue' } }])
  const command = 'echo "word: $LOBBY_DOOR, open-sesame-1"'
  server.enqueue(
    { toolCalls: [{ name: 'terminal', args: { command } }] },
    { toolCalls: [{ name: 'tool_call', args: { name: 'send_message', arguments: { action: 'list' } } }] },
    { text: 'Done.' },
  )
  const { agent } = await runtime.createAgent({ platform: 'lobby', user: 'ada' })
  await agent.run('Look.').result
  const [first, , third] = server.requests.map(({ body }) => JSON.stringify(body))
  const [printed] = server.requests[1]!.body.messages.filter(({ role }) => role === 'tool')
  expect(first).toContain('You speak in a lobby.')
  // Where strangers write, past sessions are not searched.
  expect(first).not.toContain('session_search')
  expect(printed!.content).toContain('word: , [REDACTED]')
  expect(third).toContain('lobby:ada  this person')
})

it('config.yaml says otherwise, and switches it off', async () => {
  const config = {
    platforms: { lobby: { enabled: false } },
    platform_hints: { lobby: { replace: 'Whisper.' } },
    platform_toolsets: { lobby: ['todo'] },
  }
  const { runtime, server } = await open(config, { lobby }, ACCOUNT)
  server.enqueue({ text: 'Done.' })
  const { agent } = await runtime.createAgent({ platform: 'lobby', user: 'ada' })
  await agent.run('Look.').result
  const { messages, tools = [] } = server.requests[0]!.body as unknown as {
    readonly messages: readonly object[]
    readonly tools?: readonly { readonly function: { readonly name: string } }[]
  }
  expect(JSON.stringify(messages)).toContain('Whisper.')
  expect(JSON.stringify(messages)).not.toContain('in a lobby')
  expect(tools.map((tool) => tool.function.name)).toEqual(['todo_write'])
})

it.each([
  ['cli', lobby, 'it cannot have this name'],
  ['group', lobby, 'it cannot have this name'],
  ['telegram', lobby, 'it cannot have this name'],
  ['My-Lobby', lobby, 'it cannot have this name'],
  ['lobby', { account: [] }, 'it has no open'],
  ['lobby', { ...lobby, account: 'LOBBY_URL' }, 'its account is no list of variables'],
  [
    'lobby',
    { ...lobby, account: [{ variable: 'x=1', label: 'X' }] },
    'its account names what is no variable, such as LOBBY_TOKEN',
  ],
  ['lobby', { ...lobby, hint: 'x'.repeat(501) }, 'its hint is no text of at most 500 characters'],
  ['lobby', null, "Cannot destructure property 'account' of 'brought' as it is null"],
])('is left out with one line: %s %j', async (name, brought, line) => {
  const { runtime } = await open({}, { [name]: brought, fine: lobby }, ACCOUNT)
  expect(runtime.problems).toEqual([
    `The chat platform ${JSON.stringify(name)} of the extension brings is left out: ${line}.`,
  ])
  expect(runtime.chatPlatforms.map((one) => one.name)).toEqual(['fine'])
})

it('is left out where its settings have a mistake, since something might be open that was meant to be closed', async () => {
  const { runtime } = await open({ platforms: { lobby: { allowed_users: 'ada' } } }, { lobby }, ACCOUNT)
  expect(runtime.problems).toEqual([
    expect.stringMatching(/:1:\d+: platforms\.lobby\.allowed_users: it must be a list of texts/),
    'The chat platform "lobby" of the extension brings is left out: its settings have a mistake.',
  ])
  expect(runtime.chatPlatforms).toEqual([])
})
