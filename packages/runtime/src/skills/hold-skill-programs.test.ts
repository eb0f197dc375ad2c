// Programs of installed skills in the isolation of this machine.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { callCommand, findCommand } from '@hermes/commands'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { requestFor, run } from '../__fixtures__/opened-environment.js'
import { openEnvironment } from '../environment/open-environment.js'
import { openRuntime } from '../open-runtime.js'

const HASH = '0123456789ab'
/** Addresses of this machine that others reach it by. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address)

/** Counts who comes, and greets them. */
async function listen() {
  let calls = 0
  const server = createServer((socket) => {
    calls += 1
    socket.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, calls: () => calls }
}

/** A home with these skills installed, and a server that counts who comes. */
async function setup(skills: Readonly<Record<string, readonly string[]>>, terminal = '') {
  const { request } = await requestFor(`  login_shell: false\n  env_passthrough: [PASSED]\n${terminal}`, {
    PASSED: 'p1',
  })
  const hub = join(request.home, 'skills/.hub')
  const entries: Record<string, object> = {}
  for (const [name, capabilities] of Object.entries(skills)) {
    const folder = join(hub, 'skills', `${name}@${HASH}`)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'show.sh'), 'echo "$MY_TOKEN|$PASSED|$LATER_TOKEN|$PLAIN"\n')
    await writeFile(join(folder, 'call.sh'), 'cat < "/dev/tcp/${2:-127.0.0.1}/$1"\n')
    const lists = { platforms: [], tools: [], variables: ['MY_TOKEN'], capabilities }
    entries[name] = {
      ...{ head: { name, description: 'x', group: 'general', ...lists }, from: 'x', pin: null, installedAtMs: 0 },
      ...{ folder: `${name}@${HASH}`, files: {}, findings: [] },
    }
  }
  await writeFile(join(hub, 'lock.json'), JSON.stringify({ version: 1, skills: entries }))
  const { port, calls } = await listen()
  const environment = await openEnvironment(request)
  onTestFinished(() => environment.close())
  const shell = async (command: string) => (await run(environment, command)).output
  return { shell, port, hub: join(hub, 'skills'), calls }
}

needs((await probeIsolation()) ?? missingPrograms('bash'))('isolated, a program of an installed skill', () => {
  it('reaches nothing without the capability network, and one that has it does', async () => {
    const { shell, port, hub, calls } = await setup({ quiet: ['exec'], loud: ['exec', 'network'] })
    await shell(`bash ${hub}/quiet@${HASH}/call.sh ${port}`)
    await shell(`cd ${hub}/quiet@${HASH} && bash call.sh ${port}`)
    // A directory stays, and what runs in it is the skill's.
    await shell(`bash call.sh ${port}`)
    for (const address of OUTSIDE) await shell(`bash ${hub}/quiet@${HASH}/call.sh ${port} ${address}`)
    expect(calls()).toBe(0)
    await shell('cd /')
    for (const address of ['', ...OUTSIDE])
      expect(await shell(`bash ${hub}/loud@${HASH}/call.sh ${port} ${address}`)).toBe('hello')
    expect(calls()).toBe(1 + OUTSIDE.length)
  })

  it('is not found by a command that does not name it', async () => {
    const { shell, port, hub, calls } = await setup({ quiet: ['exec'], loud: ['exec', 'network'] })
    expect(await shell(`ls ${hub}`)).not.toContain('quiet')
    await shell(`bash ${hub}/q*/call.sh ${port}; for one in ${hub}/*; do bash $one/call.sh ${port}; done`)
    await shell(`X=quiet; bash ${hub}/$X@0123456*/call.sh ${port}`)
    expect(calls()).toBe(0)
    expect(await shell(`cat ${hub}/quiet@${HASH}/call.sh`)).toContain('/dev/tcp')
  })

  it('has the variables that it named with the capability secrets, and without it none; what the shell has stays', async () => {
    const { shell, hub } = await setup({ quiet: ['exec'], keyed: ['exec', 'secrets'] })
    await shell('export LATER_TOKEN=l1 PLAIN=x')
    expect(await shell(`bash ${hub}/quiet@${HASH}/show.sh`)).toBe('|||x\n')
    expect(await shell(`bash ${hub}/keyed@${HASH}/show.sh`)).toBe('from-secrets|||x\n')
    expect(await shell('echo "$PASSED|$LATER_TOKEN|$MY_TOKEN"')).toBe('p1|l1|\n')
  })
})

it('without isolation a program of a skill has no keys either', async () => {
  const { shell, hub } = await setup({ quiet: ['exec'], keyed: ['exec', 'secrets'] }, '  isolation: off\n')
  expect(await shell(`bash ${hub}/quiet@${HASH}/show.sh`)).toBe('|||\n')
  expect(await shell(`bash ${hub}/keyed@${HASH}/show.sh`)).toBe('from-secrets|||\n')
  // Which one a pattern means is not told before it runs, so it has what all of them may.
  expect(await shell(`cd ${hub}; bash k*/show.sh`)).toBe('|||\n')
})

/** A home that trusts its project, and has a skill of each source: `quiet-SOURCE` declares exec alone, `loud-SOURCE` all. */
async function openHome(terminal: object, { isTrusted = true } = {}) {
  const { path } = await temporaryHome()
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const model = await startModelServer()
  const listener = await listen()
  const [home, cwd, seaside] = [join(path, '.hermes'), join(path, 'work'), join(path, 'seaside')]
  const places = {
    project: join(cwd, '.agents/skills'),
    shared: join(path, '.agents/skills'),
    external: join(path, 'team'),
  }
  const put = async (file: string, text: string) => {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  for (const [source, folder] of Object.entries({ ...places, plugin: join(seaside, 'skills') }))
    for (const [kind, capabilities] of [
      ['quiet', 'exec'],
      ['loud', 'exec network secrets'],
    ]) {
      const head = `name: ${kind}-${source}\ndescription: x\nmetadata:\n  hermes: {capabilities: ${capabilities}, variables: MY_TOKEN}`
      await put(join(folder, `${kind}-${source}/SKILL.md`), `---\n${head}\n---\nx\n`)
      await put(join(folder, `${kind}-${source}/call.py`), CALL)
    }
  await put(join(seaside, 'plugin.json'), JSON.stringify({ $schema: SCHEMA, name: 'seaside' }))
  const config = { model: { default: 'm', base_url: model.baseUrl }, checkpoints: { enabled: false }, terminal }
  await put(join(home, 'config.yaml'), JSON.stringify({ ...config, skills: { external_dirs: [places.external] } }))
  await put(join(home, '.env'), 'MY_TOKEN=from-secrets\n')
  const open = () =>
    openRuntime({ home, userHome: path, cwd, tempDir: path, user: 'ada', env: { PATH: process.env['PATH']! } })
  const first = await open()
  if (isTrusted) await first.trust.answer(cwd, true)
  const commands = first.extensions.list('command').map(({ item }) => item)
  const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] }
  const signal = new AbortController().signal
  await callCommand(
    findCommand(commands, 'plugins')!,
    { words: ['install', seaside], enable: true },
    {
      ...{ caller, session: null, cwd, commands, notice: () => undefined, signal },
    },
  )
  await first.close()
  await rm(seaside, { recursive: true })
  const runtime = await open()
  onTestFinished(async () => {
    await runtime.close()
    await model.close()
  })
  const { agent } = await runtime.createAgent({ platform: 'cli' })
  const scripts = { ...places, plugin: join(home, 'plugins/seaside/skills') }
  const script = (kind: string, source: keyof typeof scripts) => join(scripts[source], `${kind}-${source}/call.py`)
  /** What these calls came to, as the model reads it. */
  const calls = async (...all: readonly (readonly [name: string, args: object])[]) => {
    model.enqueue({ toolCalls: all.map(([name, args]) => ({ name, args })) }, { text: 'Done.' })
    await agent.run('Do it.').result
    const { messages } = model.requests.at(-1)!.body as unknown as {
      messages: readonly { role: string; content: unknown }[]
    }
    return messages
      .filter(({ role }) => role === 'tool')
      .slice(-all.length)
      .map(({ content }) => JSON.stringify(content))
  }
  return { calls, script, listener, runtime, path, cwd }
}

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const CALL = `import os, socket, sys
print("token", "MY_TOKEN" in os.environ)
try: print(socket.create_connection((sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1", int(sys.argv[1])), 3).recv(9))
except OSError as error: print("nobody")
`
const SOURCES = ['project', 'shared', 'external', 'plugin'] as const
/** A program of the agent that starts the script, and one that reads it and runs what it says. */
const starts = (file: string, port: number, address: string) =>
  `import subprocess, sys\nprint(subprocess.run([sys.executable, ${JSON.stringify(file)}, "${port}", "${address}"], capture_output=True, text=True).stdout)`
const reads = (file: string, port: number, address = '127.0.0.1') =>
  `import sys\nsys.argv = ["x", "${port}", "${address}"]\nexec(open(${JSON.stringify(file)}).read())`

needs((await probeIsolation()) ?? missingPrograms('bash', 'python3'))('isolated, a skill of each source', () => {
  it('has what it declared and no more, run by a command or by a program of the agent', async () => {
    const { calls, script, listener, path } = await openHome({ login_shell: false, isolation_network: 'on' })
    const { port } = listener
    const ways = (kind: string, source: (typeof SOURCES)[number], address = '127.0.0.1') => {
      const file = script(kind, source)
      const code = (source === 'shared' || source === 'plugin' ? reads : starts)(file, port, address)
      return [
        ['terminal', { command: `python3 ${file} ${port} ${address}` }],
        ['execute_code', { code }],
      ] as const
    }
    const quiet = await calls(
      ...SOURCES.flatMap((source) => ways('quiet', source)),
      ...OUTSIDE.slice(0, 1).flatMap((address) => ways('quiet', 'project', address)),
    )
    expect(quiet.filter((text) => !text.includes('token False\\nnobody'))).toEqual([])
    expect(listener.calls()).toBe(0)
    const loud = await calls(...SOURCES.flatMap((source) => ways('loud', source)))
    expect(loud.filter((text) => !text.includes(`token True\\nb'hello'`))).toEqual([])
    expect(listener.calls()).toBe(SOURCES.length * 2)
    const [kept, walked] = await calls(
      ['execute_code', { code: reads(script('loud', 'shared'), port), keep: true }],
      [
        'execute_code',
        { code: `import os\nprint([n for _, d, f in os.walk(${JSON.stringify(path)}) for n in f if n == "call.py"])` },
      ],
    )
    expect(kept).toContain('leave keep out')
    // Those of the workspace alone are there for who does not name them.
    expect(walked!.split('call.py').length - 1).toBe(2)
  }, 120_000)

  it('has declared nothing where nobody trusts its project', async () => {
    const { calls, script, listener, runtime, cwd } = await openHome({ login_shell: false }, { isTrusted: false })
    const command = `python3 ${script('loud', 'project')} ${listener.port}`
    expect(await calls(['terminal', { command }])).toEqual([
      expect.stringContaining('has not declared that it runs programs'),
    ])
    expect(listener.calls()).toBe(0)
    const subject = { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
    const action = { type: 'spawn', command: 'make test', cwd, backend: 'local' } as const
    expect(await runtime.policy.decide(action, { ...subject, workspace: cwd })).not.toMatchObject({
      rule: 'skill-unheld',
    })
  }, 60_000)
})

it('without isolation each run of a program of a skill asks, whoever brought it, and by a program of the agent too', async () => {
  const { calls, script, listener } = await openHome({ isolation: 'off', login_shell: false })
  const requested = await calls(
    ...SOURCES.flatMap((source) => [
      ['terminal', { command: `python3 ${script('loud', source)} ${listener.port}` }] as const,
      ['execute_code', { code: reads(script('loud', source), listener.port) }] as const,
    ]),
  )
  expect(requested.filter((text) => !text.includes('nothing holds it here'))).toEqual([])
  expect(listener.calls()).toBe(0)
}, 60_000)
