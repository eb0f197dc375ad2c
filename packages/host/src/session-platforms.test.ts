// What goes by where a session speaks and who speaks there, for sessions of one process.
import { checkPrefix, type ModelStep } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openHome } from './__fixtures__/open-home.js'
import type { SessionHost } from './session-host.js'

async function stage(config: object, permissions = '') {
  const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
  const { server, runtime, host, path } = await openHome({
    'config.yaml': JSON.stringify({ auxiliary, ...config }),
    ...(permissions === '' ? {} : { 'permissions.yaml': permissions }),
  })
  const open = (
    request: Pick<Parameters<SessionHost['open']>[0], 'platform'> & Partial<Parameters<SessionHost['open']>[0]>,
  ) => host.open({ baseUrl: server.baseUrl, model: 'm', permissions: 'deny', ...request })
  const say = async (session: ReturnType<typeof open>, ...steps: readonly ModelStep[]) => {
    server.enqueue(...steps)
    expect(await session.send('Go on.').result).toMatchObject({ status: 'completed' })
    return server.requests.at(-1)!.body
  }
  return { runtime, server, open, say, path }
}

const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, args: args as never }] })

it('gives each session the tools, the hint and the rules of its own platform, its user and its folder', async () => {
  const { runtime, open, say, path } = await stage(
    {
      platform_toolsets: { gateway: ['todo', 'terminal'] },
      platform_hints: { gateway: { append: 'Speak as a server.' } },
    },
    'terminal(echo*) on gateway for b*: deny\n',
  )
  const echo = call('terminal', { command: 'echo hi; pwd' })
  const terminal = open({ platform: 'cli' })
  const gateway = open({ platform: 'gateway', user: 'bob', cwd: path('other') })
  const [first, second] = await Promise.all([terminal, gateway].map(async (session) => (await session.agent()).cwd))
  expect([first, second]).toEqual([path('work'), path('other')])
  const inTerminal = await say(terminal, echo, { text: 'Done.' })
  const atGateway = await say(gateway, echo, { text: 'Done.' })
  expect(JSON.stringify(inTerminal.tools)).toContain('"read_file"')
  expect(JSON.stringify(atGateway.tools)).not.toContain('"read_file"')
  expect(JSON.stringify(inTerminal.messages[0])).toContain('You speak through a terminal')
  expect(JSON.stringify(atGateway.messages[0])).toContain('Speak as a server.')
  expect(JSON.stringify(inTerminal.messages.at(-1))).toContain(`hi\\n${path('work')}`)
  expect(JSON.stringify(atGateway.messages.at(-1))).not.toContain(`${path('other')}\\n`)
  const { audit, sessions } = await runtime.storage()
  const trail = async () => (await audit.list({ toolName: 'terminal' })).map((entry) => JSON.stringify(entry)).sort()
  await expect
    .poll(trail)
    .toEqual([
      expect.stringMatching(/"surface":"cli","user":"ada".*"decision":"allow"/),
      expect.stringMatching(/"surface":"gateway","user":"bob".*"decision":"deny"/),
    ])
  expect(await sessions.get(gateway.id)).toMatchObject({ source: 'gateway', cwd: path('other') })
})

it('keeps the definitions of a session on another platform, refuses what that lacks, and tells the hint once', async () => {
  const { server, open, say } = await stage({ platform_toolsets: { gateway: ['todo'] } })
  const begun = open({ platform: 'cli' })
  const first = await say(begun, { text: 'Hello.' })
  await begun.end('left')
  begun.close()
  const resumed = open({ platform: 'gateway', sessionId: begun.id })
  const refused = await say(resumed, call('terminal', { command: 'pwd' }), { text: 'I may not.' })
  expect(refused.tools).toEqual(first.tools)
  expect(JSON.stringify(refused.messages.at(-1))).toMatch(/terminal/)
  expect(JSON.stringify(refused.messages.at(-1))).not.toContain('/work')
  const announced = (body: typeof first) => JSON.stringify(body.messages).match(/goes on over \w+ from here on/g)
  expect(announced(refused)).toEqual(['goes on over gateway from here on'])
  expect(announced(await say(resumed, { text: 'Yes.' }))).toEqual(['goes on over gateway from here on'])
  await resumed.end('left')
  resumed.close()
  const back = open({ platform: 'cli', sessionId: begun.id })
  const last = await say(back, call('terminal', { command: 'pwd' }), { text: 'In the folder.' })
  expect(announced(last)).toEqual(['goes on over gateway from here on', 'goes on over cli from here on'])
  expect(JSON.stringify(last.messages.at(-1))).toContain('/work')
  for (const [index, request] of server.requests.slice(1).entries())
    expect(checkPrefix(server.requests[index]!, request)).toBeNull()
})
