// hermes setup: by flags, and in a terminal.
import { once } from 'node:events'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()

const setup = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(['setup', ...args], { ...scene, env })
const config = () => readFile(join(scene.home, 'config.yaml'), 'utf8').catch(() => null)
const dotEnv = () => readFile(join(scene.home, '.env'), 'utf8').catch(() => null)
const oneLine = /^hermes: [^\n]+\n$/

describe('hermes setup with flags', () => {
  it('tests the choice with one call, keeps it, and the next chat uses it', async () => {
    scene.server.setHandler(() => ({ text: 'ready' }))
    const result = await setup(['--base-url', scene.server.baseUrl, '--model', 'small'])
    expect(result).toMatchObject({ exitCode: 0, stderr: '' })
    expect(scene.server.requests).toHaveLength(1)
    expect(await config()).toBe(`model:\n  default: small\n  base_url: ${scene.server.baseUrl}\n  provider: custom\n`)
    expect(await dotEnv()).toBeNull()
    expect(await runCli(['chat', '-q', 'Hi.'], scene)).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
    expect(scene.server.requests[1]!.body.model).toBe('small')
  })

  it('takes the key from a variable, and keeps only the name of it', async () => {
    scene.server.setHandler(() => ({ text: 'ready' }))
    const env = { WORK_KEY: 'sk-work-1234567890' }
    const flags = ['--base-url', scene.server.baseUrl, '--model', 'small', '--key-env', 'WORK_KEY']
    expect(await setup(flags, env)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await config()).toContain('key_env: WORK_KEY')
    expect(await config()).not.toContain(env.WORK_KEY)
    await runCli(['chat', '-q', 'Hi.'], { ...scene, env })
    expect(scene.server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      `Bearer ${env.WORK_KEY}`,
      `Bearer ${env.WORK_KEY}`,
    ])
  })

  it('leaves comments and other settings, and what belonged to the last choice behind', async () => {
    scene.server.setHandler(() => ({ text: 'ready' }))
    await mkdir(scene.home, { recursive: true })
    const before = 'agent: {max_turns: 7} # mine\nmodel: {provider: openai, default: gpt-4.1, api_key: sk-old-123456}\n'
    await writeFile(join(scene.home, 'config.yaml'), before)
    expect((await setup(['--base-url', scene.server.baseUrl, '--model', 'small'])).exitCode).toBe(0)
    expect(await config()).toContain('agent: {max_turns: 7} # mine\n')
    expect(await config()).not.toContain('sk-old')
  })

  it.each([
    [['--provider', 'nope'], /Unknown provider "nope"\. Valid providers: openai, /],
    [['--provider', 'custom'], /needs an address: --base-url URL/],
    [['--provider', 'openai', '--model', 'm'], /OpenAI needs a key: set OPENAI_API_KEY/],
    [['--base-url', 'nowhere', '--model', 'm'], /"nowhere" is not a web address/],
    [['--provider', 'openai', '--key-env', 'NOT_SET'], /--key-env names NOT_SET, which is set neither/],
    [['--model', 'm'], /need --provider or --base-url/],
    [[], /Nobody can be asked here/],
  ])('answers %j by one line, exit code 2, and writes nothing', async (args, line) => {
    const result = await setup(args)
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(oneLine)
    expect(result.stderr).toMatch(line)
    expect(await config()).toBeNull()
  })

  it.each([
    ['a wrong key', { fault: 'status', status: 401 }, /key|401/i],
    ['a refused connection', { fault: 'refuse' }, /Nothing was changed/],
    ['a web page', { fault: 'html' }, /Nothing was changed/],
    ['a stream that is cut', { fault: 'cut', text: 'rea' }, /Nothing was changed/],
  ] as const)('says in one line what is wrong with %s and writes nothing', async (_, turn, line) => {
    scene.server.setHandler(() => turn)
    const result = await setup(['--base-url', scene.server.baseUrl, '--model', 'small'], {
      OPENAI_API_KEY: 'sk-wrong-123456',
    })
    expect(result).toMatchObject({ exitCode: 1, stdout: '' })
    expect(result.stderr).toMatch(oneLine)
    expect(result.stderr).toMatch(line)
    expect(result.stderr).not.toContain('sk-wrong')
    expect([await config(), await dotEnv()]).toEqual([null, null])
  })

  it('names no models where the server answers nonsense', async () => {
    const nonsense = createServer((_, response) => response.end('{"data": 5}')).listen(0, '127.0.0.1')
    await once(nonsense, 'listening')
    const { port } = nonsense.address() as AddressInfo
    const result = await setup(['--base-url', `http://127.0.0.1:${port}/v1`])
    nonsense.close()
    expect(result).toMatchObject({ exitCode: 2, stdout: '', stderr: 'hermes: Which model? Name one with --model.\n' })
  })

  it('does not touch a broken config.yaml', async () => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(join(scene.home, 'config.yaml'), 'agent: [1, 2\n')
    const result = await setup(['--base-url', scene.server.baseUrl, '--model', 'small'])
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toMatch(/config\.yaml:\d+:\d+: .*Fix it/)
    expect(await config()).toBe('agent: [1, 2\n')
    expect(scene.server.requests).toHaveLength(0)
  })
})

needs('tmux', hasTmux)('hermes setup in a terminal', () => {
  const open = (env: Record<string, string> = {}) =>
    openTerminal(['setup'], { ...scene, columns: 60, titles: true, env })

  it('asks for address, key and model, hides the key, and stores it for its owner alone', async () => {
    scene.server.setHandler(() => ({ text: 'ready' }))
    await using terminal = await open()
    await terminal.shows('Another server')
    await terminal.press('Up', 'Enter')
    await terminal.shows('Its address')
    await terminal.type(scene.server.baseUrl)
    await terminal.press('Enter')
    await terminal.shows('Does it want a key?')
    await terminal.type('y')
    await terminal.shows('The key for')
    await terminal.type('sk-typed-123456')
    await terminal.shows('❯ •••••••••••••••')
    await terminal.press('Enter')
    await terminal.shows('Which model?')
    await terminal.type('my-own-model')
    await terminal.press('Enter')
    expect(await terminal.exitCode()).toBe(0)
    expect(await terminal.screen()).not.toContain('sk-typed')
    expect(await dotEnv()).toBe('CUSTOM_API_KEY=sk-typed-123456\n')
    expect((await stat(join(scene.home, '.env'))).mode & 0o777).toBe(0o600)
    expect(scene.server.requests[0]!.headers['authorization']).toBe('Bearer sk-typed-123456')
    expect((await runCli(['chat', '-q', 'Hi.'], scene)).stdout).toBe('ready\n')
    expect(scene.server.requests[1]!.headers['authorization']).toBe('Bearer sk-typed-123456')
    expect(scene.server.requests[1]!.body.model).toBe('my-own-model')
  })

  it('takes any other provider by its name, and says which one was likely meant', async () => {
    await using terminal = await open()
    await terminal.shows('Another server')
    await terminal.press('Up', 'Up', 'Enter')
    await terminal.shows('Its name')
    await terminal.type('groqq')
    await terminal.press('Enter')
    await terminal.shows('There is no provider "groqq" with a key. Did you mean groq?')
    await terminal.shows('Which model provider')
    await terminal.press('Up', 'Up', 'Enter')
    await terminal.shows('Its name')
    await terminal.type('groq')
    await terminal.press('Enter')
    await terminal.shows('The key for Groq')
  })

  it('offers a key from the environment first, and asks again after a choice that does not work', async () => {
    scene.server.enqueue({ fault: 'status', status: 401 })
    await using terminal = await open({ OPENROUTER_API_KEY: 'sk-or-123456' })
    await terminal.shows('OpenRouter (key found)')
    await terminal.press('Up', 'Enter')
    await terminal.shows('Its address')
    await terminal.type(scene.server.baseUrl)
    await terminal.press('Enter')
    await terminal.shows('Does it want a key?')
    await terminal.type('n')
    await terminal.shows('Which model?')
    await terminal.type('m')
    await terminal.press('Enter')
    // The answers stay in sight.
    await terminal.shows(/Does it want a key\?\n {2}→ no\nWhich model\?\n {2}→ m\n.*key.*Which model provider/s)
    await terminal.press('Escape')
    expect(await terminal.exitCode()).toBe(130)
    expect([await config(), await dotEnv()]).toEqual([null, null])
  })
})
