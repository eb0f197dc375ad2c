import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { missingPrograms, needs, type SshServer, startSshServer } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import { openSshEnvironment, type SshOptions } from './open-ssh.js'

/** As sudo behaves without a terminal. */
const REMOTE_SUDO = `#!/bin/sh
[ "$1" = -n ] && exit 1
[ "$1" = -A ] || exit 1
shift
[ "$("$SUDO_ASKPASS")" = "it's s3cret" ] && exec "$@"
echo 'Sorry, try again.' >&2
exit 1
`

const CLIENT_ENV = { PATH: '/usr/bin:/bin' }

needs(missingPrograms('sshd', 'ssh', 'ssh-keygen'))('over ssh', () => {
  let server: SshServer
  beforeAll(async () => {
    server = await startSshServer()
  })
  afterAll(() => server.stop())

  const folder = temporaryFolders('hermes-ssh-test-')

  async function options(more: Partial<SshOptions> = {}): Promise<SshOptions> {
    const root = await folder()
    const { port, identityFile, knownHostsFile } = server
    const target = { host: '127.0.0.1', port, identityFile, knownHostsFile, configFile: '/dev/null' }
    return { ...target, cwd: root, outputDir: `${root}-output`, clientEnv: CLIENT_ENV, ...more }
  }

  async function create(more: Partial<SshOptions> = {}) {
    const requested = await options(more)
    const environment = await openSshEnvironment(requested)
    return {
      environment,
      dispose: () => environment.close(),
    }
  }

  testEnvironment({ name: 'ssh', create, only: sampleFor('ssh', 8) })

  describe('ssh environment', () => {
    const open = async (more: Partial<SshOptions>) => openSshEnvironment(await options(more))

    it('refuses a host whose key is not on record, and one whose key changed', async () => {
      const record = join(server.directory, 'other_hosts')
      await writeFile(record, '')
      await expect(open({ knownHostsFile: record })).rejects.toMatchObject({ code: 'environment.host_key_unknown' })
      const stranger = (await readFile(`${server.strangerFile}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ')
      await writeFile(record, `[127.0.0.1]:${server.port} ${stranger}\n`)
      for (const hostKeys of ['strict', 'accept-new'] as const) {
        await expect(open({ knownHostsFile: record, hostKeys })).rejects.toMatchObject({
          code: 'environment.host_key_changed',
          message: expect.stringMatching(/^The host key of 127\.0\.0\.1 is not the one on record/),
        })
      }
    })

    it('has the pseudo-terminals of script over there, and ends what runs on them', async () => {
      const { environment, start, gone } = await harness(create)
      expect(environment.capabilities.pty).toBe(missingPrograms('script') === null)
      if (!environment.capabilities.pty) return
      const one = await start('stty size; echo "$TERM"; cat; echo end; exit 3', { pty: true })
      while (!one.output().includes('xterm')) await new Promise((resolve) => setTimeout(resolve, 20))
      one.write('typed\r')
      while (!/typed[\s\S]*typed/.test(one.output())) await new Promise((resolve) => setTimeout(resolve, 20))
      one.closeInput()
      expect(await one.wait({ timeoutMs: 10_000 })).toMatchObject({ exitCode: 3, pty: true })
      expect(one.output()).toMatch(/^30 120\r\nxterm-256color\r\n[\s\S]*end\r\n$/)
      const two = await start('trap "" HUP TERM; sleep 60 & echo "pid $!"; wait', { pty: true })
      while (!/pid \d+/.test(two.output())) await new Promise((resolve) => setTimeout(resolve, 20))
      await two.kill()
      expect(await gone(/pid (\d+)/.exec(two.output())![1]!)).toBe(true)
    })

    it('tells sudo over there its password, which stays on standard input and in a file that goes away', async () => {
      const requested = await options()
      const bin = join(requested.cwd!, 'bin')
      await mkdir(bin)
      await writeFile(join(bin, 'sudo'), REMOTE_SUDO, { mode: 0o755 })
      const more = { env: { PATH: `${bin}:/usr/bin:/bin` } }
      const { environment, run, start } = await harness(() => create({ ...requested, ...more }))
      expect(await environment.sudo?.needsPassword()).toBe(true)
      const sudoPassword = "it's s3cret"
      const all = 'cat /proc/[0-9]*/cmdline /proc/$$/environ 2>/dev/null | tr "\\0" "\\n"'
      const seen = await run(`ls -l "$SUDO_ASKPASS"; sudo echo root; ${all}`, { sudoPassword })
      expect(seen.output).toMatch(/^-rwx------[\s\S]*\nroot\n/)
      expect(seen.output).not.toContain('s3cret')
      expect((await run('export PATH=/usr/bin:/bin; sudo echo root', { sudoPassword })).output).toBe('root\n')
      expect((await run('sudo echo root', { sudoPassword: 'wrong' })).output).toContain('Sorry, try again.')
      expect((await run('sleep 60; sudo echo root', { sudoPassword, timeoutMs: 300 })).timedOut).toBe(true)
      const background = await start(`sudo echo behind; sudo ls -d "\${SUDO_ASKPASS%/*}"/askpass-*`, { sudoPassword })
      await background.wait()
      expect(background.output()).toMatch(/^behind\n\S+askpass-\w+\n$/)
      const { output } = await run(`echo "[\${SUDO_ASKPASS-}]"; ls /tmp/hermes-*/askpass-* 2>/dev/null`)
      expect(output).toBe('[]\n')
    })

    it('takes the key of a new host when that is asked for', async () => {
      const record = join(server.directory, 'new_hosts')
      const environment = await open({ knownHostsFile: record, hostKeys: 'accept-new' })
      await environment.close()
      expect(await readFile(record, 'utf8')).toContain('ssh-ed25519')
    })

    it('says that no key is accepted, that nobody listens, and that a name is no host', async () => {
      const refused = { code: 'environment.auth_failed', retryable: false }
      await expect(open({ identityFile: server.strangerFile })).rejects.toMatchObject(refused)
      await expect(open({ port: 1 })).rejects.toMatchObject({ code: 'environment.connection_refused', retryable: true })
      await expect(open({ host: '-oProxyCommand=touch' })).rejects.toMatchObject({ code: 'environment.invalid_host' })
      await expect(open({ host: 'no.such.invalid' })).rejects.toMatchObject({ code: 'environment.unknown_host' })
    })

    it('gives up on a server that says nothing', async () => {
      const silent = createServer(() => undefined)
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void silent.close())
      const { port } = silent.address() as AddressInfo
      await expect(open({ port, connectTimeout: 1 })).rejects.toMatchObject({ code: 'environment.connect_timeout' })
    })

    it('says that the ssh client or the working directory is missing', async () => {
      await expect(open({ clientEnv: { PATH: '/no/such' } })).rejects.toMatchObject({
        code: 'environment.client_missing',
      })
      await expect(open({ cwd: '/no/such/place' })).rejects.toMatchObject({
        code: 'environment.not_found',
        message: expect.stringContaining('/no/such/place'),
      })
    })

    it('shares one connection among commands and files, also side by side', async () => {
      const { run, write } = await harness(create)
      const ports = await Promise.all(['a', 'b', 'c'].map(async () => (await run('echo $SSH_CONNECTION')).output))
      await write('x', 'x')
      ports.push((await run('echo $SSH_CONNECTION')).output)
      expect(ports[0]).toMatch(/^\S+ \d+ /)
      expect(new Set(ports).size).toBe(1)
    })

    it('opens the connection again when it was lost', async () => {
      const socketDir = await mkdtemp('/tmp/hermes-s-')
      onTestFinished(() => rm(socketDir, { recursive: true, force: true }))
      const { run, environment } = await harness(() => create({ socketDir }))
      await run('export KEPT=1; mkdir in; cd in')
      const [folder] = await readdir(socketDir)
      const socket = join(socketDir, folder!, 's')
      execFileSync('ssh', ['-O', 'exit', '-o', `ControlPath=${socket}`, '-F', '/dev/null', '127.0.0.1'], {
        stdio: 'ignore',
      })
      while (existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 10))
      expect((await run('echo $KEPT; pwd')).output).toBe(`1\n${environment.cwd()}\n`)
      expect(existsSync(socket)).toBe(true)
    })

    it('gives commands the variables of a login there and those asked for, which no list of processes shows', async () => {
      const { run } = await harness(() => create({ env: { TOKEN_OF_TEST: 'hunter2-of-test' } }))
      const { output } = await run('echo "$TOKEN_OF_TEST $HOME"; cat /proc/[0-9]*/cmdline | tr "\\0" " "')
      const [first, ...processes] = output.split('\n')
      expect(first).toMatch(/^hunter2-of-test \//)
      expect(processes.join('\n')).not.toContain('hunter2-of-test')
    })

    it('leaves nothing on the other side when it closes', async () => {
      const { run, environment } = await harness(create)
      const watcher = await harness(create)
      const { output } = await run('sleep 60 >/dev/null 2>&1 & echo $!')
      const scratch = () => readdirSync('/tmp').filter((name) => /^hermes-ssh-(?!test-)/.test(name))
      const before = scratch()
      await environment.close()
      expect(await watcher.gone(output.trim())).toBe(true)
      expect(scratch().length).toBeLessThan(before.length)
    })

    it('keeps nobody waiting when the other side does not answer any more', async () => {
      const line = await forwardTo(server.port)
      const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal) }
      const record = join(server.directory, 'forwarded_hosts')
      const key = (await readFile(server.knownHostsFile, 'utf8')).split(' ').slice(1).join(' ')
      await writeFile(record, `[127.0.0.1]:${line.port} ${key}`)
      const { run, environment } = await harness(() => create({ port: line.port, knownHostsFile: record, clock }))
      const controller = new AbortController()
      const onOutput = () => {
        line.cut()
        controller.abort()
      }
      const result = await run('echo up; sleep 30', { signal: controller.signal, onOutput })
      expect(result).toMatchObject({ canceled: true, exitCode: 130, output: 'up\n' })
      await environment.close()
    })

    it('finds background processes again after a crash, and can end them', async () => {
      const outputDir = await mkdtemp(join(tmpdir(), 'hermes-ssh-out-'))
      onTestFinished(() => rm(outputDir, { recursive: true, force: true }))
      const first = await harness(() => create({ outputDir }))
      const started = await first.start('echo up; sleep 60')
      while (!started.output().includes('up')) await new Promise((resolve) => setTimeout(resolve, 10))
      await first.environment.close({ keepProcesses: true })
      const second = await harness(() => create({ outputDir }))
      const [found] = second.environment.processes()
      expect(found!.info()).toMatchObject({ id: started.info().id, pid: started.info().pid, status: 'running' })
      expect(found!.output()).toBe('up\n')
      await found!.kill()
      expect(await second.gone(String(started.info().pid))).toBe(true)
    })
  })
})

/** A port that hands everything on to `port` until it is cut, and then holds all connections open without a word. */
async function forwardTo(port: number) {
  const pairs: Socket[] = []
  const server = createServer((near) => {
    const remote = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, remote],
      [remote, near],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      pairs.push(from)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of pairs) socket.destroy()
  })
  const cut = () => {
    for (const socket of pairs) socket.unpipe().pause()
  }
  return { port: (server.address() as AddressInfo).port, cut }
}
