import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { isolated } from './__fixtures__/isolated.js'
import type { IsolationOptions } from './plan.js'
import { probeIsolation } from './probe-isolation.js'

const setup = async (isolation?: IsolationOptions) => {
  const made = await isolated(isolation)
  return { ...made, ...(await harness(async () => made)) }
}

/** Each tries to write `OUT/escaped`, or what it names, from inside. `ROOT` is the parent of the home directory. */
const WRITES = [
  'echo x > ROOT/escaped',
  'echo x > ../escaped',
  'ln -s ROOT link; echo x > link/escaped',
  'cp /bin/true ROOT/escaped',
  'mkdir ROOT/escaped',
  'mv notes ROOT/escaped 2>/dev/null; ln ROOT/home/notes.txt ROOT/escaped',
  'cd /proc/self/root && echo x > ./ROOT/escaped',
  'for p in /proc/[0-9]*; do echo x > $p/root/ROOT/escaped; echo x > $p/cwd/../../escaped; done 2>/dev/null',
  'mount -o remount,rw / ; mount -o remount,rw,bind ROOT; echo x > ROOT/escaped',
  'umount -l ROOT/home/.ssh; umount -l /; echo x > ROOT/escaped',
  'unshare -Urm sh -c "mount -o remount,rw /; mount --bind / /mnt; echo x > /mnt/ROOT/escaped; echo x > ROOT/escaped"',
  'nsenter -t 1 -m sh -c "echo x > ROOT/escaped"; nsenter -t 1 -a sh -c "echo x > ROOT/escaped"',
  'mknod disk b 8 0 && dd if=/dev/zero of=disk count=0; chroot / sh -c "echo x > ROOT/escaped"',
  'sudo -n sh -c "echo x > ROOT/escaped"; su -c "echo x > ROOT/escaped" </dev/null',
  'sleep 0 & (setsid sh -c "echo x > ROOT/escaped" &) ; wait',
  'for fd in /proc/self/fd/*; do echo x > $fd/../escaped; done 2>/dev/null; echo x > /proc/self/fd/4/escaped',
  'echo "touch ROOT/escaped" > rc; export BASH_ENV=$PWD/rc ENV=$PWD/rc; true',
  'mkdir bin; printf "#!/bin/sh\\ntouch ROOT/escaped\\n" > bin/bwrap; cp bin/bwrap bin/bash; chmod +x bin/*; export PATH=$PWD/bin:$PATH; hash -r',
  'export LD_PRELOAD=$PWD/evil.so LD_LIBRARY_PATH=$PWD LD_AUDIT=$PWD/evil.so',
  'echo x > /dev/shm/../../ROOT/escaped; echo x > "/tmp/../ROOT/escaped"',
  'chmod 777 ROOT; chown 0 ROOT; touch ROOT/escaped',
  // Written back as it was, should it be taken.
  'v=$(cat /proc/sys/vm/swappiness) && echo "$v" > /proc/sys/vm/swappiness && echo TAKEN',
]

/** Each tries to show one of the secrets. */
const READS = [
  'cat ROOT/home/.ssh/id_ed25519; ls ROOT/home/.ssh',
  'cat ROOT/home/.netrc ROOT/home/.hermes/.env',
  'ln -s ROOT/home/.hermes/.env link; cat link; cat ~/alias/.env',
  'cp -r ROOT/home/.hermes copy; grep -r . copy; tar c ROOT/home | tr -d "\\000"',
  'for p in /proc/[0-9]*; do cat $p/root/ROOT/home/.hermes/.env $p/environ $p/cwd/../.netrc; done 2>/dev/null',
  'chmod 700 ROOT/home/.ssh; cat ROOT/home/.ssh/*',
  'umount ROOT/home/.netrc; umount ROOT/home/.hermes; cat ROOT/home/.netrc ROOT/home/.hermes/.env',
  'mkdir m; unshare -Urm sh -c "umount -l ROOT/home/.hermes; mount --bind ROOT/home m; cat m/.hermes/.env m/.netrc"',
  'cd ROOT/home/.hermes/sandbox/shell-* && ls && rm -f output-1 && ln -s ROOT/home/.hermes/.env output-1',
  'cd ROOT/home/.hermes/sandbox/shell-*/state && for n in 1 2 3 4 5 6 7 8 9; do ln -sf ROOT/home/.hermes/.env state-$n; mkfifo state-2$n; done',
]

needs(await probeIsolation())('isolated commands', () => {
  it(`escape in none of ${WRITES.length + READS.length} ways`, async () => {
    const { run, at, environment } = await setup()
    symlinkSync(at('home/.hermes'), at('home/alias'))
    const escapes: string[] = []
    for (const probe of [...WRITES, ...READS]) {
      const command = probe.replaceAll('ROOT', at())
      const { output } = await run(command, { timeoutMs: 20_000 })
      // What was left to happen outside happens with the next command, in the foreground or the background.
      const next = await run('true', { timeoutMs: 20_000 })
      const shown = /the (private key|password|api key)|TAKEN/.test(output + next.output)
      if (shown || existsSync(at('escaped'))) escapes.push(probe)
      await run('unset BASH_ENV ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT; export PATH=/usr/bin:/bin', {
        timeoutMs: 20_000,
      })
    }
    expect(escapes).toEqual([])
    expect(await readFile(at('home/.netrc'), 'utf8')).toBe('the password')
    await environment.close()
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
    const { stdout } = { stdout: execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }) }
    expect(stdout.split('\n').filter((line) => line === 'sleep 61.5')).toEqual([])
  })

  it('commit in a folder below the root of a repository, and in a linked working tree', async () => {
    const { at } = await setup()
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' })
    await mkdir(at('home/repo/sub'), { recursive: true })
    git(at('home/repo'), 'init', '--quiet')
    git(at('home/repo'), 'commit', '--quiet', '--allow-empty', '-m', 'first')
    git(at('home/repo'), 'worktree', 'add', '--quiet', at('home/linked'))
    for (const folder of ['home/repo/sub', 'home/linked']) {
      const inside = await isolated({}, at(folder))
      const { run } = await harness(async () => inside)
      const result = await run(
        'echo x > new && git add new && git -c user.name=a -c user.email=a@b commit -qm new && git status --short',
      )
      expect(result).toMatchObject({ exitCode: 0, output: '' })
    }
  })
})
