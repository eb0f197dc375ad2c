import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime
beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
})
afterEach(async () => {
  await runtime.close()
  await server.close()
})

async function open(yaml: string, env: Record<string, string> = {}): Promise<Runtime> {
  await writeFile(join(home.path, 'config.yaml'), yaml)
  const world = { cwd: home.path, user: 'u', tempDir: home.path }
  return (runtime = await openRuntime({ home: home.path, userHome: home.path, env, ...world }))
}

const acme = (more = '') => `
providers:
  acme:
    aliases: [ac, Acme-AI]
    base_url: ${server.baseUrl}
    key_env: ACME_ONE
    key_envs: [ACME_TWO]
    api_mode: chat_completions
    model: acme-large
    extra_headers: { x-team: blue }
    quirks:
      output_limit_parameter: max_completion_tokens
      default_max_output_tokens: 123
      developer_role_models: [ACME]
      think_tags: [musing]
      reserved_tool_names: [read_file]
${more}`

describe('a provider of config.yaml', () => {
  it('is known by its aliases and spoken to in its own ways', async () => {
    await open(`model: { provider: ac }\n${acme()}`, { ACME_ONE: 'key-one' })
    expect(runtime.problems).toEqual([])
    for (const provider of [undefined, 'acme', 'acme-ai', 'custom:acme'])
      expect(runtime.chooseModel(provider === undefined ? {} : { provider })).toMatchObject({
        provider: 'acme',
        model: 'acme-large',
        apiKey: 'key-one',
        keySource: 'ACME_ONE',
      })
    const { agent } = await runtime.createAgent({})
    server.enqueue({ text: '<musing>hm</musing>Hello.' })
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed', text: 'Hello.' })
    const [{ headers, body }] = server.requests as [(typeof server.requests)[number]]
    expect(headers).toMatchObject({ authorization: 'Bearer key-one', 'x-team': 'blue' })
    expect(body).toMatchObject({ max_completion_tokens: 123, messages: [{ role: 'developer' }, { role: 'user' }] })
    const names = (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)
    expect(names).toContain('hermes_read_file')
    expect(names).not.toContain('read_file')
  })

  it('has its second key taken where the first is refused', async () => {
    await open(`model: { provider: acme }\n${acme()}`, { ACME_ONE: 'key-one', ACME_TWO: 'key-two' })
    server.enqueue({ fault: 'status', status: 402, body: { error: { message: 'Insufficient credits.' } } })
    server.enqueue({ text: 'Hello.' })
    const { agent } = await runtime.createAgent({})
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed' })
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer key-one', 'Bearer key-two'])
    expect(await readFile(join(home.path, 'auth.json'), 'utf8')).not.toMatch(/key-(?:one|two)/)
  })

  it('keeps its keys from commands, whatever their variables are called', async () => {
    const yaml = acme().replace('key_env: ACME_ONE', 'key_env: ACME_PASSPORT')
    await open(`model: { provider: acme }\n${yaml}`, { ACME_PASSPORT: 'key-one', PATH: process.env['PATH'] ?? '' })
    server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo "[$ACME_PASSPORT]"' } }] }, { text: 'Ok.' })
    const { agent } = await runtime.createAgent({})
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(server.requests[1]!.body)).toContain('[]')
    expect(JSON.stringify(server.requests[1]!.body)).not.toContain('key-one')
  })

  it('changes what the catalogue says of a provider of that name, and nothing more', async () => {
    const own = `{ base_url: '${server.baseUrl}', quirks: { output_limit_parameter: max_completion_tokens } }`
    await open(`model: { provider: nim, default: m }\nproviders: { nvidia: ${own} }\n`, { NVIDIA_API_KEY: 'k' })
    server.enqueue({ text: '<think>hm</think>Hello.' })
    const { agent } = await runtime.createAgent({})
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed', text: 'Hello.' })
    expect(server.requests[0]!.body).toMatchObject({ max_completion_tokens: 16_384 })
  })
})
