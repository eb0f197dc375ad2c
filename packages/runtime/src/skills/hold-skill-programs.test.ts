// Programs of installed skills in the isolation of this machine.
import { mkdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { requestFor, run } from '../__fixtures__/opened-environment.js'
import { openEnvironment } from '../environment/open-environment.js'

const HASH = '0123456789ab'
/** Addresses of this machine that others reach it by. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address)

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
  let calls = 0
  const server = createServer((socket) => {
    calls += 1
    socket.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  onTestFinished(() => void server.close())
  const environment = await openEnvironment(request)
  onTestFinished(() => environment.close())
  const shell = async (command: string) => (await run(environment, command)).output
  const { port } = server.address() as AddressInfo
  return { shell, port, hub: join(hub, 'skills'), calls: () => calls }
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
