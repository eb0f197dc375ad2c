// Skills of a server, over HTTP, from the server that Hermes is itself.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { silentLogger, systemClock } from '@hermes/contracts'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createMcp } from '../extension.js'
import { RequestServer, type ServedHome } from '../serve/index.js'

const files = [
  {
    path: 'SKILL.md',
    bytes: Buffer.from('---\nname: tides\ndescription: Tells the tides.\n---\n\nLook at the moon.\n'),
  },
  { path: 'scripts/moon phase.sh', bytes: Buffer.from('echo full\n') },
]

/** A home that has such a server, whose answers pass through `alter`. */
async function setup(
  alter: (body: string) => string = (body) => body,
  skills = [{ name: 'tides', frontmatter: { name: 'tides', description: 'Tells the tides.' }, files }],
) {
  const served = {
    skills: {
      names: async () => skills.map(({ name }) => name),
      read: async (name: string) => skills.find((one) => one.name === name) ?? null,
    },
  } as unknown as ServedHome
  const server = new RequestServer({ home: served, version: '1' })
  const http = createServer(async (request, response) => {
    const { method = 'GET', headers, url = '' } = request
    const body = method === 'POST' ? await buffer(request) : null
    const answer = await server.answer(
      new Request(`http://127.0.0.1${url}`, { method, headers: headers as never, body }),
    )
    const { 'content-length': _, ...rest } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, rest)
    response.flushHeaders()
    // One that stays open is passed on as it comes.
    for await (const chunk of answer.body ?? []) response.write(alter(Buffer.from(chunk as Uint8Array).toString()))
    response.end()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const home = await temporaryHome()
  const mcp = createMcp({
    configured: { value: { sea: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` } } },
    reread: async () => ({ value: undefined }),
    changed: async () => null,
    writeServer: async () => undefined,
    cacheDir: `${home.path}/listings`,
    loginDir: `${home.path}/logins`,
    openLoopback: () => Promise.reject(new Error('Nobody logs in.')),
    startDevice: () => Promise.reject(new Error('Nobody logs in.')),
    conceal: () => undefined,
    startProgram: () => Promise.reject(new Error('No program.')),
    fetchTo: () => fetch,
    folders: { userHome: home.path, workspace: home.path },
    version: '0',
    clock: systemClock,
    logger: silentLogger,
  })
  const add = () => ({ dispose: () => undefined })
  const close = mcp.extension.setup({
    ...{
      hooks: { on: add },
      config: { section: add },
      doctor: { check: add },
      commands: { add },
      tools: { addSource: add },
    },
  } as never) as () => Promise<void>
  onTestFinished(async () => {
    await close()
    await server.close()
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
    await home.remove()
  })
  const leave = () => {
    http.closeAllConnections()
    http.close()
  }
  return { ...mcp, leave }
}

const { signal } = new AbortController()

it('gives the skills of a server with their files, each as its list says', async () => {
  const mcp = await setup()
  const [tides, ...others] = await mcp.skills('sea', signal)
  expect(others).toEqual([])
  expect(tides).toMatchObject({
    ...{ name: 'tides', description: 'Tells the tides.' },
    size: { files: 2, bytes: files[0]!.bytes.length + files[1]!.bytes.length },
  })
  const got = await tides!.read(signal)
  expect(got.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual(
    files.map(({ path, bytes }) => [path, bytes.toString()]),
  )
  await expect(mcp.skills('lake', signal)).rejects.toThrow('There is no MCP server "lake". There are sea.')
})

it('takes no file that is another one than its digest says', async () => {
  const mcp = await setup((body) => body.replaceAll('echo full', 'echo evil'))
  const [tides] = await mcp.skills('sea', signal)
  await expect(tides!.read(signal)).rejects.toMatchObject({
    code: 'mcp.bad_skill',
    message: expect.stringMatching(/^The skill tides of the MCP server sea is not taken: [^\n]+$/),
  })
})

it.each<[string, (body: string) => string]>([
  ['answers half', (body) => (body.includes('echo full') ? body.slice(0, body.length / 2) : body)],
  ['gives more than its list says', (body) => body.replaceAll('echo full', 'echo full '.repeat(800_000))],
  ['answers with nothing', (body) => (body.includes('echo full') ? '' : body)],
])('takes no skill of a server that %s, and says so in one line', async (_, alter) => {
  const { skills } = await setup(alter)
  const [tides] = await skills('sea', AbortSignal.timeout(20_000))
  await expect(tides!.read(AbortSignal.timeout(20_000))).rejects.toMatchObject({
    message: expect.stringMatching(/^The skill tides of the MCP server sea is not taken: [^\n]{1,300}$/),
  })
})

it('takes no skill of a server that is gone meanwhile, and says so in one line', async () => {
  const { skills, leave } = await setup()
  const [tides] = await skills('sea', signal)
  leave()
  await expect(tides!.read(AbortSignal.timeout(20_000))).rejects.toMatchObject({
    message: expect.stringMatching(/^[^\n]*sea[^\n]*$/),
  })
})
