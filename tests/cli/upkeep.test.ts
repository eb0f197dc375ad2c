// What tells of Hermes itself and keeps it in order: status, version, logs, dump, update, uninstall.
import { once } from 'node:events'
import { appendFile, chmod, cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { CLI, cliEnv, runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const line = (time: string, level: number, msg: string, more = {}) =>
  `${JSON.stringify({ level, time: Date.parse(time), pid: 1, hostname: 'h', ...more, msg })}\n`

async function writeLogs(): Promise<string> {
  const folder = join(scene.home, 'logs')
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'agent.log'),
    [
      line('2026-01-01T10:00:00Z', 30, 'opened', { sessionId: 's-one' }),
      'no JSON at all\n',
      line('2026-01-01T10:02:00Z', 50, 'failed', { sessionId: 's-two', error: 'ECONNREFUSED' }),
    ].join(''),
  )
  await writeFile(join(folder, 'gateway.log'), line('2026-01-01T10:01:00Z', 40, 'slow'))
  return folder
}

it('logs as JSON, lists its files, and names the log that was meant', async () => {
  await writeLogs()
  const json = await runCli(['logs', '--json', '--session', 's-two'], scene)
  expect(JSON.parse(json.stdout)).toMatchObject({ log: 'agent', level: 'error', fields: { error: 'ECONNREFUSED' } })
  const list = await runCli(['logs', 'list', '--json'], scene)
  expect(
    list.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).name),
  ).toEqual(['agent', 'gateway'])
  expect(await runCli(['logs', 'agnt'], scene)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Did you mean agent?'),
  })
})

it('logs --follow shows what comes, in a new file too, and ends well with Ctrl-C', async () => {
  const folder = await writeLogs()
  const child = startCli(['logs', '-f', '-n', '1'], scene)
  let shown = ''
  const until = async (text: string) => {
    while (!shown.includes(text)) [shown] = [shown + String((await once(child.stdout!, 'data'))[0])]
  }
  await until('failed')
  await appendFile(join(folder, 'agent.log'), line('2026-01-01T10:03:00Z', 30, 'went on'))
  await until('went on')
  await writeFile(join(folder, 'third.log'), line('2026-01-01T10:04:00Z', 30, 'a new one'))
  await until('a new one')
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
})

const SECRET = 'sk-canary-0123456789abcdefghijklmnop'

it('insights counts calls, failures and cost by tool and session', async () => {
  const { server } = scene
  const read = (path: string) => ({
    toolCalls: [{ name: 'read_file', args: { path } }],
    usage: { inputTokens: 9, outputTokens: 1, costUsd: 0.5 },
  })
  await writeFile(join(scene.cwd, 'there.txt'), 'x')
  server.enqueue(read('there.txt'), read('missing.txt'), {
    text: 'Done.',
    usage: { inputTokens: 9, outputTokens: 1, costUsd: 0.25 },
  })
  await runCli(['chat', '-q', 'look', '--provider', 'custom', '--base-url', server.baseUrl, '-m', 'm'], scene)
  const { exitCode, stdout } = await runCli(['insights', '--json', '--days', '1'], scene)
  const rows = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  expect([exitCode, rows.length]).toEqual([0, 2])
  expect(rows[0]).toMatchObject({ tool: 'read_file', calls: 2, failures: 1, costUsd: 1 })
  expect(rows[1]).toMatchObject({ calls: 2, failures: 1, modelCalls: 3, costUsd: 1.25 })
})

it('dump reports without any secret, into a private file that it does not overwrite', async () => {
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, '.env'), `OPENAI_API_KEY=${SECRET}\nCUSTOM_TOKEN=plain-canary-word\n`, {
    mode: 0o600,
  })
  const config = {
    model: { provider: 'custom', default: 'm', base_url: scene.server.baseUrl, api_key: SECRET },
    agent: { max_turns: 7 },
    providers: { lab: { base_url: scene.server.baseUrl, api_key: 'config-canary-word' } },
  }
  const login = { version: 1, providers: { xai: [{ api_key: 'login-canary-word' }] } }
  await writeFile(join(scene.home, 'auth.json'), JSON.stringify(login), { mode: 0o600 })
  await writeFile(join(scene.home, 'config.yaml'), `# ${SECRET}\n${JSON.stringify(config)}`)
  await mkdir(join(scene.home, 'logs'))
  await writeFile(
    join(scene.home, 'logs', 'agent.log'),
    line('2026-01-01T10:00:00Z', 50, 'asked with plain-canary-word, config-canary-word, login-canary-word'),
  )
  const file = join(scene.cwd, 'report.txt')
  expect(await runCli(['dump', '-o', file], scene)).toMatchObject({ exitCode: 0, stdout: `${file}\n` })
  const text = await readFile(file, 'utf8')
  expect(text).not.toMatch(/canary/)
  expect(text).toContain('OPENAI_API_KEY is set')
  expect(text).toContain('"max_turns": 7')
  expect(text).toMatch(/asked with \S*\[?/)
  expect(text).toMatch(/^ok {2}Node /m)
  expect(text).not.toContain(dirname(scene.home))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await runCli(['debug', '-o', file], scene)).toMatchObject({ exitCode: 2 })
})

it('dump reports about a home that cannot be read', async () => {
  await mkdir(join(scene.home, 'config.yaml'), { recursive: true })
  const { exitCode, stdout } = await runCli(['dump', '--json'], scene)
  expect([exitCode, JSON.parse(stdout)['config.yaml']]).toEqual([0, [expect.stringContaining('Cannot read')]])
})

it('status says model, sessions, spending and what waits, and --json as lines', async () => {
  const { server } = scene
  server.enqueue({ text: 'Hello.', usage: { inputTokens: 900, outputTokens: 100 } })
  const env = { OPENAI_API_KEY: 'k' }
  await runCli(['chat', '-q', 'hi', '--provider', 'custom', '--base-url', server.baseUrl, '-m', 'm'], {
    ...scene,
    home: scene.home,
    cwd: scene.cwd,
    env,
  })
  const { exitCode, stdout } = await runCli(['status', '--json'], scene)
  const rows = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((text) => [JSON.parse(text).name, JSON.parse(text).value]),
  )
  expect(exitCode).toBe(0)
  expect(rows).toMatchObject({
    sessions: '1, 2 messages',
    waits: 'nothing',
    model: expect.stringContaining('No model is set up'),
  })
  expect(rows['today']).toBe('1 call, 1k tokens, cost unknown')
  const facts = JSON.parse((await runCli(['version', '--json'], scene)).stdout)
  expect(facts).toMatchObject({ hermes: expect.stringMatching(/^\d+\.\d+/), home: scene.home, profile: 'default' })
})

async function startRegistry(answer: (path: string) => object | null): Promise<string> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? '')
    response.writeHead(body === null ? 404 : 200).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm`
}

it.each([
  ['99.0.0', 1, /^99\.0\.0 is there; this is /],
  ['0.0.1', 0, /is the newest version/],
])('update --check asks the registry of npm: %s', async (latest, code, text) => {
  const url = await startRegistry((path) => (path === '/npm/@hermes%2Fcli' ? { 'dist-tags': { latest } } : null))
  await mkdir(dirname(scene.home), { recursive: true })
  await writeFile(join(dirname(scene.home), '.npmrc'), `registry=${url}\n`)
  const { exitCode, stdout } = await runCli(['update', '--check'], scene)
  expect([exitCode, stdout]).toEqual([code, expect.stringMatching(text)])
  const json = await runCli(['update', '--check', '--json'], scene)
  expect(JSON.parse(json.stdout)).toMatchObject({ latest, isNewer: code === 1, registry: `${url}/` })
})

it('update --check says which registry does not know it, or is not there', async () => {
  const env = { npm_config_registry: await startRegistry(() => null) }
  const { exitCode, stderr } = await runCli(['update', '--check'], { home: scene.home, cwd: scene.cwd, env })
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^hermes: \S+ does not know @hermes\/cli\. Another registry: .*\n$/),
  ])
})

/** The program as npm installs it, and an npm that takes it away. */
async function installed(): Promise<{ readonly folder: string; readonly env: Record<string, string> }> {
  const folder = join(scene.folder, 'lib', 'node_modules', '@hermes', 'cli')
  const app = dirname(dirname(CLI))
  await mkdir(folder, { recursive: true })
  await cp(join(app, 'dist'), join(folder, 'dist'), { recursive: true })
  await cp(join(app, 'package.json'), join(folder, 'package.json'))
  await symlink(join(app, 'node_modules'), join(folder, 'node_modules'))
  const bin = join(scene.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'npm'), `#!/bin/sh\necho "$@" > ${bin}/called\nrm -r ${folder}\n`)
  await chmod(join(bin, 'npm'), 0o755)
  return { folder, env: { PATH: `${bin}:${cliEnv(scene)['PATH']}` } }
}

it('uninstall shows what goes, refuses without a yes, keeps the home, and with --data takes it too', async () => {
  const { folder, env } = await installed()
  await mkdir(join(scene.home, 'profiles', 'work'), { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), 'model: m\n')
  const { execFile } = await import('node:child_process')
  const run = (...flags: string[]) =>
    new Promise<{ code: number; out: string }>((resolve) =>
      execFile(
        process.execPath,
        [join(folder, 'dist', 'bin.js'), 'uninstall', ...flags],
        { env: cliEnv({ home: scene.home, env }) },
        (error, out) => resolve({ code: error === null ? 0 : Number(error.code), out }),
      ),
    )
  const there = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    )
  expect(await run('--dry-run', '--data')).toEqual({
    code: 0,
    out: `goes   the program in ${folder}\ngoes   the home ${scene.home}: settings, keys, memories and sessions of default, work\n`,
  })
  expect((await run()).code).toBe(2)
  expect([await there(folder), await there(scene.home)]).toEqual([true, true])
  expect(await run('--yes')).toMatchObject({ code: 0, out: expect.stringContaining(`Your data is in ${scene.home}.`) })
  expect([await there(folder), await there(scene.home)]).toEqual([false, true])
  expect(await readFile(join(scene.folder, 'bin', 'called'), 'utf8')).toBe('uninstall -g @hermes/cli\n')
  const own = await runCli(['uninstall', '--data', '--yes'], {
    ...scene,
    home: scene.home,
    cwd: scene.cwd,
    env: { HOME: scene.home },
  })
  expect([own.exitCode, await there(scene.home)]).toEqual([2, true])
  const sources = await runCli(['uninstall', '--data', '--yes'], scene)
  expect([sources.exitCode, await there(scene.home)]).toEqual([0, false])
})
