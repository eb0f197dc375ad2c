import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { commandLines, needs } from '@hermes/testkit/daemons'
import { AFTER_PROBE, ESCAPED, READING_PROBES, WRITING_PROBES } from '@hermes/testkit/isolation-corpus'
import { expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { isolated } from './__fixtures__/isolated.js'
import type { IsolationOptions } from './isolation-options.js'
import { createIsolationSupport, probeIsolation } from './isolation-support.js'

const setup = async (isolation?: IsolationOptions) => {
  const made = await isolated(isolation)
  return { ...made, ...(await harness(async () => made)) }
}

const PROBES = [...WRITING_PROBES, ...READING_PROBES]

needs(await probeIsolation())('isolated commands', () => {
  it(`escape in none of ${PROBES.length} ways`, async () => {
    const { run, at, environment } = await setup()
    symlinkSync(at('home/.hermes'), at('home/alias'))
    const escapes: string[] = []
    for (const probe of PROBES) {
      const command = probe.replaceAll('ROOT', at()).replaceAll('OUTPUTS', at('home/.hermes/sandbox'))
      const { output } = await run(command, { timeoutMs: 20_000 })
      // What was left to happen outside happens with the next command, which undoes it.
      const next = await run(AFTER_PROBE, { timeoutMs: 20_000 })
      const shown = ESCAPED.test(output + next.output)
      if (shown || existsSync(at('escaped'))) escapes.push(probe)
    }
    expect(escapes).toEqual([])
    expect(await readFile(at('home/.netrc'), 'utf8')).toBe('the password')
    await environment.close()
  })

  it('say in the words of the system that they need more', async () => {
    const { run, environment } = await setup()
    const { output, exitCode } = await run(`echo x >> ${environment.resolve('~/.bashrc')}`)
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/Read-only file system/)])
  })

  it('neither see nor end processes of the machine, and no socket of its services', async () => {
    const { run, at } = await setup()
    const { output } = await run(
      `kill -0 ${process.pid}; ls -d /proc/${process.pid}/cwd; ls -A /run | grep -v -e systemd -e resolvconf; kill -9 -1`,
    )
    expect(output).toContain('No such process')
    expect(output).not.toContain(`${process.pid}/cwd\n/`)
    await mkdir(at('temp/tmux-0'))
    await writeFile(at('temp/tmux-0/default'), 'a way out')
    expect((await run(`cat ${at('temp/tmux-0/default')}`)).output).not.toContain('a way out')
  })

  it('reach the network only when they may', async () => {
    let calls = 0
    const server = createServer((socket) => {
      calls++
      socket.end('hello\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const command = `bash -c 'cat < /dev/tcp/127.0.0.1/${port}'`
    const closed = await setup({ network: false })
    expect((await closed.run(command)).exitCode).not.toBe(0)
    expect(calls).toBe(0)
    const open = await setup()
    expect((await open.run(command)).output).toBe('hello\n')
  })

  it('get what configuration names: a folder to write, a hidden one to read', async () => {
    const outside = await setup()
    const { run, at } = await setup({ writable: [outside.at('home')], readable: [outside.at('home/.ssh')] })
    const { output } = await run(
      `echo x > ${outside.at('home/new')}; cat ${outside.at('home/.ssh/id_ed25519')}; cat ${at('home/.netrc')}`,
    )
    expect(output).toContain('the private key')
    expect(output).not.toContain('the password')
    expect(existsSync(outside.at('home/new'))).toBe(true)
  })

  it('see and end what earlier ones left in the background, which ends with the environment', async () => {
    const { run, start, environment, at } = await setup()
    const { output } = await run('sleep 60 >/dev/null 2>&1 & echo $!')
    expect((await run(`kill ${output.trim()} && echo ended`)).output).toBe('ended\n')
    await run(`setsid sh -c 'echo up > ${at('temp/up')}; sleep 61.5' >/dev/null 2>&1 &`)
    await start('sleep 61.5')
    await environment.close()
    expect(commandLines().filter((line) => line === 'sleep 61.5')).toEqual([])
  })

  it.each([
    ['by file descriptor', {}],
    ['by path, compared inside', { support: { ...createIsolationSupport(), bindsDescriptors: () => false } }],
  ])('draw no bounds for the next one, with folders mounted %s', async (_how, isolation: IsolationOptions) => {
    const outer = await setup(isolation)
    const { at } = outer
    await mkdir(at('home/proj/.git'), { recursive: true })
    await mkdir(at('home/proj/packages/a'), { recursive: true })
    const inside = await isolated(isolation, at('home/proj/packages/a'))
    const { run } = await harness(async () => inside)
    const next = `echo x > ${at('home/new')}; cat ${inside.at('home/.netrc')}; ls -l /proc/self/fd`
    // A .git file of its own, and a link in place of the folder it was started in.
    await run(`echo "gitdir: ${at('home/.ssh')}" > .git; mv .git ..`)
    await run('cd ../.. && mv packages moved && mkdir packages && ln -s ../.. packages/a && cd packages/a')
    // The folder it was started in leads elsewhere now: nothing runs until it is turned back.
    await expect(run(next)).rejects.toMatchObject({ code: 'environment.changed' })
    await rename(at('home/proj/packages'), at('home/proj/turned'))
    await rename(at('home/proj/moved'), at('home/proj/packages'))
    const { output } = await run(next)
    expect(output).not.toContain('the password')
    expect(output).not.toMatch(/-> (?:.*home\/proj|\/$)/m)
    expect(existsSync(at('home/new'))).toBe(false)
    // The whole tree goes, as another program might do it: nothing runs.
    await rename(at('home/proj'), at('home/gone'))
    await symlink(at('home'), at('home/proj'))
    await expect(run(next)).rejects.toMatchObject({ code: 'environment.changed' })
    expect(existsSync(at('home/new'))).toBe(false)
  })

  it('reach the sockets that they bind themselves and those of the workspace, and no others that are not named', async () => {
    const { environment, at, run, start } = await setup()
    await Promise.all(
      ['home/apps', 'home/work/run', 'temp/emacs0', 'temp/agent', 'temp/many'].map((folder) => mkdir(at(folder))),
    )
    const listen = async (path: string) => {
      const server = createServer((socket) => socket.end('served'))
      await new Promise<void>((resolve) => server.listen(path, resolve))
      onTestFinished(() => void server.close())
    }
    const connect = (path: string) =>
      `${process.execPath} -e "require('net').connect('${path}').on('error', (e) => console.log(e.code)).pipe(process.stdout)"; echo`
    await listen(at('home/apps/agent.sock'))
    await listen(at('temp/emacs0/server'))
    for (let count = 0; count < 40; count++) await listen(at(`temp/many/${count}`))
    await listen(at('home/work/run/s'))
    await listen(at('temp/agent/new'))
    await rename(at('temp/agent/new'), at('temp/agent/renamed'))
    expect((await run(`ls ${at('temp/many')}`)).exitCode).not.toBe(0)
    await listen(at('temp/late'))
    const own = at('temp/own.sock')
    const server = await start(
      `${process.execPath} -e "require('net').createServer((s) => s.end('served')).listen('${own}', () => console.log('up'))"`,
    )
    while (!server.output().includes('up')) await server.wait({ timeoutMs: 20 })
    const paths = ['home/apps/agent.sock', 'temp/emacs0/server', 'temp/agent/renamed', 'temp/late', 'home/work/run/s']
    const { output } = await run(
      `mv ${at('temp/emacs0')} ${at('temp/moved')}; ${[...paths.map((path) => at(path)), own].map(connect).join('; ')}`,
    )
    const refused = 'ECONNREFUSED'
    expect(
      output
        .split('\n')
        .filter((line) => /^(?:served|E[A-Z]+)/.test(line.trim()))
        .map((line) => line.trim()),
    ).toEqual([...['ENOENT', refused, refused, refused], ...['served', 'served']])
    expect(existsSync(at('temp/moved'))).toBe(false)
    await environment.close()
    const named = await isolated({ writable: [at('temp/late')] }, at('home/work'))
    const other = await harness(async () => named)
    expect((await other.run(connect(at('temp/late')))).output).toBe('served\n')
  })

  it.each([
    [
      'processes',
      { processes: 40 },
      'for n in $(seq 60); do sleep 30 & done; wait',
      'they were \\d+ processes, and 40 may run',
    ],
    [
      'memory',
      { memoryBytes: 2 ** 26 },
      'head -c 300000000 /dev/zero | tail',
      'they used [\\d.]+ [MG]B of memory, and 64 MB may be used',
    ],
  ])(
    'are all ended when they use more %s than they may, and the next one runs',
    async (_what, limits, command, text) => {
      const { run } = await setup({ limits })
      const { output, exitCode } = await run(command, { timeoutMs: 25_000 })
      expect(exitCode).not.toBe(0)
      expect(output).toMatch(new RegExp(`\\[All isolated programs of this session were ended: ${text}\\.\\]\\n$`))
      expect(await run('echo goes on; pgrep -c sleep')).toMatchObject({ output: 'goes on\n0\n' })
    },
  )

  it.each([
    [
      'a closed folder',
      'mkdir shut && cd shut && mkdir deep && cd deep && chmod 000 ..',
      'cannot be entered any more|does not exist any more',
    ],
    [
      '3,000 variables',
      'for n in $(seq 3000); do export A$n=x; done',
      '^\\[\\d+ variables of more than 2000 are not there',
    ],
  ])('leave a shell that goes on, with %s', async (_what, command, text) => {
    const { run, at } = await setup()
    const [made, next] = [await run(command), await run('echo goes on in $PWD; test -n "$HOME" && echo at home')]
    expect(made.output + next.output).toMatch(new RegExp(text))
    expect(next.output).toContain(`goes on in ${at('home/work')}\nat home\n`)
    expect((await run('chmod 700 shut; pwd')).output).toContain(at('home/work'))
  })

  it('has nothing of the machine open, in the root of its file system either', async () => {
    const inside = await isolated({}, '/')
    const { run } = await harness(async () => inside)
    const { output } = await run('for file in /proc/self/fd/*; do readlink $file; done; ls /proc/self/fd/*/root 2>&1')
    expect(output).not.toMatch(/^\/$|^\/(?:root|home|etc)$/m)
  })

  it('move nothing hidden out of sight of the next one, in the home directory either', async () => {
    const outer = await setup()
    const { at } = outer
    await mkdir(at('home/.cargo/bin'), { recursive: true })
    await writeFile(at('home/.cargo/credentials.toml'), 'the token')
    const inside = await isolated({}, at('home'), at('home'))
    const { run } = await harness(async () => inside)
    expect((await run('mv .cargo .was; mv .ssh .keys; echo made > new; cat new')).output).toMatch(/made\n$/)
    expect((await run('cat .was/* .cargo/* .keys/* .ssh/*')).output).not.toMatch(/the (?:token|private key)/)
  })

  it('commit in a folder below the root of a repository, and in a linked working tree', async () => {
    const { at } = await setup()
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' })
    await mkdir(at('home/repo/sub'), { recursive: true })
    git(at('home/repo'), 'init', '--quiet')
    git(at('home/repo'), 'commit', '--quiet', '--allow-empty', '-m', 'first')
    git(at('home/repo'), 'worktree', 'add', '--quiet', at('home/linked'))
    // One made inside, within the bounds, works from the next environment on.
    const sub = await harness(() => isolated({}, at('home/repo/sub')))
    expect((await sub.run('git worktree add -q made && echo made/ >> ../.git/info/exclude')).exitCode).toBe(0)
    for (const folder of ['home/repo/sub', 'home/linked', 'home/repo/sub/made']) {
      const inside = await isolated({}, at(folder))
      const { run } = await harness(async () => inside)
      const result = await run(
        'echo x > new && git add new && git -c user.name=a -c user.email=a@b commit -qm new && git status --short',
      )
      expect(result).toMatchObject({ exitCode: 0, output: '' })
    }
  })
})

needs((await probeIsolation()) ?? (process.getuid?.() === 0 ? null : 'not root'))('commands of root', () => {
  it('run although a service of another user has a socket in a folder that it keeps to itself', async () => {
    const { run } = await setup()
    const folder = await mkdtemp('/tmp/hermes-service-')
    const server = createServer()
    onTestFinished(async () => {
      server.close()
      await rm(folder, { recursive: true, force: true })
    })
    await new Promise<void>((resolve) => void server.listen(`${folder}/socket`, resolve))
    const nobody = 65_534
    await chown(folder, nobody, nobody)
    expect(await run(`echo fine; ls ${folder}`)).toMatchObject({
      output: expect.stringMatching(/^fine\nls: .*Permission denied\n$/),
    })
  })
})
