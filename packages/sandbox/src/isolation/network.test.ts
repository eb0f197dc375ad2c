import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import type { ExecOptions } from '@hermes/contracts/environment'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { testPermit } from '../testing/permit.js'
import { isolated } from './__fixtures__/isolated.js'
import type { IsolationOptions } from './isolation-options.js'
import { probeIsolation } from './isolation-support.js'

async function setup(network: IsolationOptions['network']) {
  const { environment, dispose } = await isolated(network === undefined ? {} : { network })
  onTestFinished(dispose)
  let calls = 0
  const server = createServer((socket) => {
    calls++
    socket.end('hello\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const permit = (command: string, more: object) =>
    testPermit({ type: 'spawn', command, cwd: environment.cwd(), backend: 'local', ...more })
  const run = async (command: string, more: Pick<ExecOptions, 'network'> = {}) =>
    (await environment.exec(permit(command, more), command, { ...more, timeoutMs: 20_000 })).output
  const start = (command: string, more: Pick<ExecOptions, 'network'> = {}) =>
    environment.spawn(permit(command, more), command, more)
  return { environment, run, start, permit, requested: () => calls, ask: `cat < /dev/tcp/127.0.0.1/${port}` }
}

const off = { network: 'off' } as const
const NODE = process.execPath
/** Listens on a free port and says which. */
const SERVE = `${NODE} -e "require('net').createServer((s) => s.end('served')).listen(0, '127.0.0.1', function () { console.log('port', this.address().port, '.') })"`

needs((await probeIsolation()) ?? missingPrograms('bash'))('isolated, without the network', () => {
  it('a command reaches nothing of this machine, and one with it does, in the same process namespace', async () => {
    const { run, start, ask, requested, environment } = await setup('ask')
    expect(environment.capabilities).toMatchObject({ asksForNetwork: true, offline: false })
    await run(ask, off)
    expect(requested()).toBe(0)
    expect(await run('grep -c : /proc/net/dev', off)).toBe('1\n')
    expect(await run(ask)).toBe('hello\n')
    const background = await start('sleep 61.75', off)
    expect(await run('until pkill -f "^sleep 61.75"; do sleep 0.05; done; echo ended')).toBe('ended\n')
    await background.wait()
  })

  it('needs a permit that says so', async () => {
    const { environment, permit } = await setup('ask')
    const denied = { code: 'policy.permit_mismatch' }
    await expect(environment.exec(permit('true', {}), 'true', off)).rejects.toMatchObject(denied)
    await expect(environment.exec(permit('true', off), 'true')).rejects.toMatchObject(denied)
  })

  it('is without it in the background and on a pseudo-terminal too', async () => {
    const { start, ask, requested, environment, permit } = await setup('ask')
    await (await start(ask, off)).wait()
    await (await environment.spawn(permit(ask, off), ask, { ...off, pty: true })).wait()
    expect(requested()).toBe(0)
  })
})

const hasNsenter = existsSync('/usr/bin/nsenter') || existsSync('/bin/nsenter')
needs((await probeIsolation()) ?? (hasNsenter ? null : 'nsenter is not installed'))('the loopback of commands', () => {
  it.each(['ask', false] as const)('is one for all that have nothing else, with network %s', async (network) => {
    const { run, start } = await setup(network)
    const server = await start(SERVE, off)
    // It ends when it cannot listen.
    while (!/port \d+ \./.test(server.output()) && (await server.wait({ timeoutMs: 20 })) === null);
    const [, port] = /port (\d+) \./.exec(server.output()) ?? [null, server.output()]
    expect(await run(`cat < /dev/tcp/127.0.0.1/${port}`, off)).toBe('served')
    await server.kill()
  })
})
