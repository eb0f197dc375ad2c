// Logins at MCP servers as people have them with `hermes mcp login`.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandContext } from '@hermes/contracts/extension'
import { temporaryHome } from '@hermes/testkit'
import { startAuthServer, startGuardedServer } from '@hermes/testkit/auth-server'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

async function setup() {
  const home = await temporaryHome()
  const auth = await startAuthServer({ registers: true, pollIntervalS: 1 })
  const guarded = await startGuardedServer(auth)
  await writeFile(
    join(home.path, 'config.yaml'),
    JSON.stringify({
      model: { default: 'm', base_url: 'http://127.0.0.1:9' },
      mcp_servers: { locked: { url: guarded.url } },
    }),
  )
  const world = { env: { HOME: home.path }, cwd: home.path, user: 'ada', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  onTestFinished(async () => {
    await runtime.close()
    guarded.close()
    await auth.close()
    await home.remove()
  })
  const { item } = runtime.extensions.list('command').find((one) => one.item.name === 'mcp')!
  const login = async (args: object, more: Partial<CommandContext>) => {
    const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] } as const
    const signal = AbortSignal.timeout(20_000)
    const context = {
      ...{ caller, session: null, cwd: home.path, commands: [], signal },
      notice: () => undefined,
      ...more,
    }
    return item.run({ words: ['login', 'locked'], ...args }, context)
  }
  const kept = async () => {
    const folder = join(home.path, 'mcp-tokens')
    const [file] = (await readdir(folder)).filter((name) => name.endsWith('.json'))
    return readFile(join(folder, file!), 'utf8')
  }
  return { auth, login, kept }
}

it('a person without a browser on this machine enters a code on another one', async () => {
  const { auth, login, kept } = await setup()
  const lines: string[] = []
  const notice = (line: string) => {
    lines.push(line)
    void auth.approveDevice(/enter the code (\S+):/.exec(line)![1]!)
  }
  expect(await login({ device: true }, { notice })).toMatchObject({ text: 'You are logged in at locked: 1 tool.' })
  expect(lines).toEqual([expect.stringContaining(`${auth.issuer}/device`)])
  expect(auth.tokenRequests.at(-1)).toEqual({ grantType: expect.stringContaining('device_code'), status: 200 })
  expect(
    await auth.accepts(
      (JSON.parse(await kept()) as { login: { tokens: { access_token: string } } }).login.tokens.access_token,
    ),
  ).toBe(true)
})

it('or pastes the address that the browser of another one ends at', async () => {
  const { auth, login } = await setup()
  const back = Promise.withResolvers<string>()
  const lines: string[] = []
  const notice = (line: string) => {
    lines.push(line)
    const [, address] = line.split('\n')
    void auth.agreeElsewhere(address!).then(back.resolve)
  }
  const shown = await login({}, { notice, ask: () => back.promise })
  expect(shown).toMatchObject({ text: 'You are logged in at locked: 1 tool.' })
  expect(lines[0]).toMatch(/^Open this in a browser:\n.*\nWithout a browser here: hermes mcp login locked --device$/)
})
