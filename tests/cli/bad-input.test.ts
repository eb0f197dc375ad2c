import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FaultStep } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { CLI, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const hermes = (args: readonly string[], env: Record<string, string> = {}) => runCli(args, { ...scene, env })
const oneLine = /^hermes: [^\n]+\n$/

it('in a folder that is gone it says so in one line', () => {
  const gone = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
  const args = ['-c', gone, 'sh', process.execPath, CLI, 'chat', '-q', 'x']
  const { status, stdout, stderr } = spawnSync('sh', args, { cwd: scene.cwd, encoding: 'utf8' })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^[^\n]*The current folder does not exist any more\. Change to another one, then try again\.\n$/,
  )
})

describe('wrong input', () => {
  it.each([
    [
      ['chat', '-q', 'x', '--provider', 'opnai'],
      /Unknown provider "opnai"\. Did you mean openai\? Valid providers: openai, openrouter/,
    ],
    [['chat', '-q', 'x', '--modle', 'y'], /unknown option '--modle'.*--model/],
    [
      ['chat', '-q', 'x', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm', '-t', 'fiel'],
      /Unknown toolset "fiel"\. Valid toolsets: all, [^\n]*\bfile\b/,
    ],
    [['chat', '-q', 'x'], /No model is set up\. Set OPENAI_API_KEY/],
    [['chat', '-q', 'x', '-m', 'm'], /Nothing says where to ask m\. Set OPENAI_API_KEY/],
    [['help', 'sesions'], /Unknown command "sesions"\. Did you mean sessions\?/],
    [['chat', '-q', 'x', '--provider', 'openai'], /OpenAI needs a key: export OPENAI_API_KEY=/],
    [['chat', '-q', '  ', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm'], /The query is empty/],
    [['chat', '-q', 'x', '--base-url', 'nowhere', '-m', 'm'], /"nowhere" is not a web address/],
    [
      ['chat', '-q', 'x', '--max-turns', 'many', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm'],
      /--max-turns takes a whole number/,
    ],
    [['chat', '-c', '-q', 'x', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm'], /no session to continue yet/],
    [['sessions', 'show', 'abc'], /There is no session "abc"/],
    [['config', 'set', 'agent.max_turns', 'many'], /agent\.max_turns/],
    [['frobnicate'], /Unknown command "frobnicate"\. Valid commands: chat, /],
    [['sesions', 'list'], /Unknown command "sesions"\. Did you mean sessions\? To ask the agent: hermes chat /],
    [['chat', '--foo'], /^hermes: unknown option '--foo'\. See hermes chat --help\.\n$/],
    [['doctor', 'now'], /^hermes: doctor does not take "now"\. See/],
    [['what is this?', '-q', 'and that?'], /There are two queries: "and that\?" and "what is this\?"/],
    [['chat', '--any', '-q', 'x', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm'], /--any goes with -c/],
    [['sessions', 'lst'], /Unknown command "sessions lst"\. Valid commands: list, show/],
    [['chat', '-q', 'x', '--replay', 'missing.jsonl'], /Cannot read the recording missing\.jsonl/],
    [
      ['chat', '-q', 'x', '--record', '/nowhere/x.jsonl', '--base-url', 'http://127.0.0.1:9/v1', '-m', 'm'],
      /Cannot record to \/nowhere\/x\.jsonl/,
    ],
  ])('%j is answered by one line and exit code 2', async (args, line) => {
    const result = await hermes(args)
    expect(result.stderr).toMatch(oneLine)
    expect(result.stderr).toMatch(line)
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  })

  it('names the models of a server that does not know the one asked for', async () => {
    scene.server.enqueue({
      fault: 'status',
      status: 404,
      body: { error: { message: 'The model `nope` does not exist', code: 'model_not_found' } },
    })
    const result = await hermes(['chat', '-q', 'x', '--base-url', scene.server.baseUrl, '-m', 'nope'])
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(/nope/)
  })

  it('says where a broken config.yaml is broken, runs on the last good values and overwrites nothing', async () => {
    await mkdir(scene.home, { recursive: true })
    const good = `model:\n  provider: custom\n  default: from-config\n  base_url: ${scene.server.baseUrl}\n`
    await writeFile(join(scene.home, 'config.yaml'), good)
    scene.server.setHandler(() => ({ text: 'ok' }))
    expect((await hermes(['chat', '-q', 'x'])).exitCode).toBe(0)
    const broken = `${good}agent: [1, 2\n`
    await writeFile(join(scene.home, 'config.yaml'), broken)
    const result = await hermes(['chat', '-q', 'y'])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'ok\n' })
    expect(result.stderr).toMatch(/config\.yaml:\d+:\d+: /)
    expect(scene.server.requests.at(-1)!.body.model).toBe('from-config')
    expect((await hermes(['config', 'set', 'agent.max_turns', '5'])).exitCode).not.toBe(0)
    expect(await readFile(join(scene.home, 'config.yaml'), 'utf8')).toBe(broken)
    expect((await hermes(['config', 'check'])).exitCode).toBe(1)
  })
})

describe('a model server that misbehaves', () => {
  const ask = () => hermes(['chat', '-q', 'x', '--base-url', scene.server.baseUrl, '-m', 'm'])

  it.each<[string, FaultStep]>([
    ['is rate limited', { fault: 'status', status: 429, retryAfterSeconds: 0 }],
    ['is overloaded', { fault: 'status', status: 529, headers: { 'retry-after-ms': '1' } }],
  ])('is asked again when it %s', async (_, fault) => {
    scene.server.enqueue(fault, { text: 'Recovered.' })
    expect(await ask()).toMatchObject({ exitCode: 0, stdout: 'Recovered.\n' })
  })

  it('gives one clear line when the key is refused, and the session goes on later', async () => {
    scene.server.enqueue({ fault: 'status', status: 401 })
    const refused = await ask()
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).not.toMatch(/\n\s+at /)
    scene.server.enqueue({ text: 'Now it works.' })
    const args = ['chat', '-c', '-q', 'again', '--base-url', scene.server.baseUrl, '-m', 'm']
    expect(await hermes(args)).toMatchObject({ exitCode: 0, stdout: 'Now it works.\n' })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toContain('x')
  })

  it('says that nothing listens there', async () => {
    const { baseUrl } = scene.server
    await scene.server.close()
    await mkdir(scene.home, { recursive: true })
    await writeFile(join(scene.home, 'config.yaml'), 'agent:\n  api_max_retries: 0\n')
    const result = await hermes(['chat', '-q', 'x', '--base-url', baseUrl, '-m', 'm'])
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toMatch(/nothing is listening at/i)
  })
})

describe('odd terminals', () => {
  it('leaves out colours and long lines where they are not wanted', async () => {
    scene.server.setHandler(({ number }) =>
      number === 1
        ? { toolCalls: [{ name: 'terminal', args: { command: `echo ${'long '.repeat(60)}` } }] }
        : { text: 'Done.' },
    )
    const result = await hermes(['chat', '-q', 'x', '--base-url', scene.server.baseUrl, '-m', 'm'], { NO_COLOR: '1' })
    expect(result.stderr).not.toContain('\u001B')
    for (const line of result.stderr.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('prints the version fast path and the long way alike', async () => {
    const fast = await hermes(['--version'])
    expect(fast.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await hermes(['chat', '--version'])).stdout + fast.stdout).toContain(fast.stdout)
    expect((await hermes(['--help'])).stdout).toMatch(/Usage: hermes/)
  })
})
