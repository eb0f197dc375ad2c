import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { CommandContext } from '@hermes/contracts/extension'
import type { Question } from '@hermes/contracts/tool'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { AgentRequest, Runtime } from '../runtime.js'

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const everything = { command: process.execPath, args: [EVERYTHING, 'stdio'], connect_timeout: 20 }

let home: TemporaryHome
let models: ModelServer
let runtime: Runtime

beforeEach(async () => {
  home = await temporaryHome()
  models = await startModelServer()
})
afterEach(async () => {
  await runtime.close()
  await models.close()
  await home.remove()
})

async function open(servers: object): Promise<void> {
  const config = { model: { default: 'm', base_url: models.baseUrl }, mcp_servers: servers }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const env = { PATH: process.env['PATH']! }
  const world = { env, cwd: home.path, user: 'ada', tempDir: home.path }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
}

/** Has the model call a tool, and gives what it was told; `between` is what it says when the server asks it. */
async function call(name: string, args: object, request: AgentRequest = {}, ...between: string[]): Promise<string> {
  const { agent, close } = await runtime.createAgent(request)
  models.enqueue(
    { toolCalls: [{ name: 'tool_search', args: { query: name } }] },
    { toolCalls: [{ name: 'tool_call', args: { name, arguments: args } }] },
    ...between.map((text) => ({ text })),
    { text: 'Done.' },
  )
  expect(await agent.run('Go.').result).toMatchObject({ text: 'Done.' })
  await close()
  return JSON.stringify(models.requests.at(-1)!.body.messages.at(-1))
}

const asking = (requested: Question[], answer: (question: string) => string): AgentRequest => ({
  ask: async (question) => {
    requested.push(question)
    return { type: 'answered', text: answer(question.question) }
  },
})

const listed = async () =>
  expect.poll(async () => (await runtime.tools()).some(({ name }) => name === 'mcp__everything__echo')).toBe(true)

it('a question of a server reaches the person behind the call, the answer the server, and its prompts are commands', async () => {
  await open({ everything })
  const requested: Question[] = []
  const answers = asking(requested, (question) => (/\nString: /.test(question) ? 'Ada' : ''))
  const shown = await call('mcp__everything__trigger-elicitation-request', {}, answers)
  expect(requested[0]?.question ?? shown).toMatch(/^The MCP server everything asks: /)
  expect(shown).toContain('Ada')
  const declined = asking([], () => 'Decline')
  expect(await call('mcp__everything__trigger-elicitation-request', {}, declined)).toMatch(/declin/i)
  await listed()
  const commands = runtime.extensions.list('command').map(({ item }) => item)
  const prompt = commands.find(({ name }) => name === 'mcp-everything-args-prompt')!
  const context = { signal: new AbortController().signal } as CommandContext
  // What it gives is the next message.
  expect(await prompt.run({ city: 'Bern' }, context)).toMatchObject({
    type: 'change',
    change: { type: 'send', text: expect.stringContaining('Bern') },
  })
}, 30_000)

it('the model of the session answers a server, as often and as much as its entry says', async () => {
  await open({
    everything: { ...everything, sampling: { max_rpm: 1, max_tokens: 50, allowed_models: ['m'] } },
    bound: { ...everything, sampling: { allowed_models: ['small'] } },
  })
  const name = 'mcp__everything__trigger-sampling-request'
  expect(await call(name, { prompt: 'Who?', maxTokens: 900 }, {}, 'Sampled words.')).toContain('Sampled words.')
  expect(models.requests.map(({ body }) => body['max_tokens'] ?? body['max_completion_tokens'])).toContain(50)
  expect(await call(name, { prompt: 'Again?' })).toContain('may ask the model 1 times a minute')
  const refused = await call('mcp__bound__trigger-sampling-request', { prompt: 'Who?' })
  expect(refused).toContain('The MCP server bound may not ask m (sampling.allowed_models).')
}, 30_000)

it('servers of one session are there for it alone, and end with it', async () => {
  await open({})
  const mcpServers = { everything }
  expect(await call('mcp__everything__echo', { message: 'mine' }, { mcpServers })).toContain('Echo: mine')
  expect((await runtime.tools()).filter(({ name }) => name.startsWith('mcp__'))).toEqual([])
  const { problems } = await runtime.createAgent({ mcpServers: { wrong: {} } })
  expect(problems).toEqual(['MCP server wrong: it needs a command or an url.'])
}, 30_000)
