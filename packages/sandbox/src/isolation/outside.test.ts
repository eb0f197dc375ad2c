import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { ExecOptions, SpawnOptions } from '@hermes/contracts/environment'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { testPermit } from '../testing/permit.js'
import { isolated } from './__fixtures__/isolated.js'
import type { IsolationOptions } from './isolation-options.js'
import { createIsolationSupport, probeIsolation } from './isolation-support.js'

async function setup(isolation?: IsolationOptions) {
  const { environment, at, dispose } = await isolated(isolation)
  onTestFinished(dispose)
  const permit = (command: string, outside = false) =>
    testPermit({
      ...({ type: 'spawn', command, cwd: environment.cwd(), backend: 'local' } as const),
      ...(outside ? { outside } : {}),
    })
  return {
    environment,
    at,
    permit,
    inside: (command: string) => environment.exec(permit(command), command),
    outside: (command: string, options: ExecOptions = {}) =>
      environment.exec(permit(command, true), command, { ...options, outside: true }),
    start: (command: string, options: SpawnOptions) =>
      environment.spawn(permit(command, options.outside), command, options),
  }
}

needs(await probeIsolation())('with leave, a command outside the isolation', () => {
  it('reads and writes what those inside do not, in the foreground and the background', async () => {
    const { environment, outside, inside, start, at } = await setup({ network: false })
    expect(environment.capabilities).toMatchObject({ isolated: true, outside: true, offline: true })
    expect((await inside('cat ~/.netrc; echo x > ../new')).output).not.toContain('the password')
    expect(existsSync(at('home/new'))).toBe(false)
    expect((await outside('cat ~/.netrc; echo x > ../new')).output).toBe('the password')
    expect(existsSync(at('home/new'))).toBe(true)
    const background = await start('cat ~/.netrc; cat ~/.ssh/id_ed25519', { outside: true })
    await background.wait()
    expect(background.output()).toBe('the passwordthe private key')
  })

  it('needs a permit that says so', async () => {
    const { environment, permit } = await setup()
    const denied = { code: 'policy.permit_mismatch' }
    await expect(environment.exec(permit('true'), 'true', { outside: true })).rejects.toMatchObject(denied)
    await expect(environment.exec(permit('true', true), 'true')).rejects.toMatchObject(denied)
    await expect(environment.spawn(permit('true'), 'true', { outside: true })).rejects.toMatchObject(denied)
  })

  it('gets no variable that one inside has set, and leaves none; its directory stays', async () => {
    const { inside, outside, start, at, environment } = await setup()
    await mkdir(at('home/work/sub'))
    await inside('export EVIL=1 PATH=$PWD/bin:$PATH LD_PRELOAD=$PWD/evil.so; cd sub')
    const found = await outside('echo "<$EVIL$LD_PRELOAD> $PATH $PWD"; export LATER=1; cd ..')
    expect(found.output).toBe(`<> /usr/local/bin:/usr/bin:/bin ${at('home/work/sub')}\n`)
    expect(environment.cwd()).toBe(at('home/work'))
    expect((await inside('unset LD_PRELOAD; echo "<$EVIL$LATER>"')).output).toContain('<1>\n')
    const background = await start('echo "<$EVIL>"', { outside: true })
    await background.wait()
    expect(background.output()).toBe('<>\n')
  })

  it('leaves its state where no command inside can lay a link', async () => {
    const { inside, outside, at } = await setup()
    await writeFile(at('home/.bashrc'), 'as it was')
    await inside(
      `cd ${at('home/.hermes/sandbox')}/shells/*/state && for n in 1 2 3 4 5 6 7 8; do ln -sf ${at('home/.bashrc')} state-$n; done; cd ${at('home/work')}`,
    )
    for (let count = 0; count < 5; count++) await outside('true')
    expect(await readFile(at('home/.bashrc'), 'utf8')).toBe('as it was')
  })
})

needs((await probeIsolation()) ?? missingPrograms('pgrep'))('isolated, a pseudo-terminal', () => {
  it('shows a terminal and nothing that is hidden', async () => {
    const { start, at } = await setup()
    const background = await start('test -t 0 && echo terminal; cat ~/.netrc; echo x > ../new; stty size; echo $TERM', {
      pty: true,
    })
    expect(await background.wait()).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(background.output()).toMatch(/^terminal\r\n[\s\S]*Read-only file system[\s\S]*xterm-256color\r\n/)
    expect(background.output()).not.toContain('the password')
    expect(existsSync(at('home/new'))).toBe(false)
  })

  it('ends with all that runs on it', async () => {
    const { start, inside } = await setup()
    const background = await start('sleep 71.25 & sleep 71.25', { pty: true })
    while (!(await inside('pgrep -fc "^sleep 71.25"')).output.startsWith('2')) await background.wait({ timeoutMs: 20 })
    await background.kill()
    expect((await inside('pgrep -fc "^sleep 71.25"')).output).toMatch(/^0/)
  })
})

it('is no way out of anything where commands are not isolated', async () => {
  const support = { ...createIsolationSupport(), why: () => 'it cannot' }
  const { environment, outside, inside } = await setup({ support, required: false })
  expect(environment.capabilities).toMatchObject({ isolated: false, outside: false, offline: false })
  await inside('export KEPT=1')
  expect((await outside('echo $KEPT; cat ~/.netrc')).output).toBe('1\nthe password')
})

needs(await probeIsolation())('isolated in an unusual folder', () => {
  it.each([
    ['/', 'made'],
    ['/proc', 'kept'],
  ])('%s, a command sees no secret, no process and no device of the machine', async (cwd, text) => {
    const { environment, at, dispose } = await isolated({}, cwd)
    onTestFinished(dispose)
    const command = `cat ${at('home/.netrc')} /proc/${process.pid}/environ; ls /dev/sda /dev/mem; (echo x > ${at('new')}) && echo made || echo kept`
    const permit = testPermit({ type: 'spawn', command, cwd, backend: 'local' })
    const { output } = await environment.exec(permit, command)
    expect(output).not.toContain('the password')
    expect(output.match(/No such file|Permission denied/g)).toHaveLength(4)
    expect(output.trimEnd().split('\n').at(-1)).toBe(text)
  })
})
