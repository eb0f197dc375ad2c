import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CgroupPlaces } from '@hermes/sandbox/isolation'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { requestFor } from '../__fixtures__/opened-environment.js'
import type { BackendStatus } from '../environment/terminal-backends.js'
import { terminalBackends } from '../environment/terminal-backends.js'
import type { Runtime } from '../runtime.js'
import { terminalFindings } from './terminal.js'

/** What the doctor says of a look at the backends. */
async function found(backends: () => Promise<readonly BackendStatus[]>) {
  const findings = await terminalFindings({ terminalBackends: backends } as unknown as Runtime, { isOffline: true })
  return findings.find(({ text }) => text.includes('Terminal backend local'))
}

it('the doctor names hermes auth add as the place for keys where nothing isolates commands', async () => {
  const text = 'commands are not isolated: bubblewrap (bwrap) is not installed'
  const status = { backend: 'local', isChosen: true, isReady: true }
  expect(await found(async () => [{ ...status, isWeak: true, text }])).toEqual({
    level: 'warn',
    text: `Terminal backend local (chosen): ready, but ${text}. Programs can read the variables Hermes was started with: keep keys with hermes auth add. To leave it so: hermes config set terminal.isolation off`,
  })
  expect(await found(async () => [{ ...status, text: 'commands are isolated' }])).toMatchObject({ level: 'ok' })
})

// Root that works in the folder of somebody else is held by no isolation, whatever the machine has.
it.skipIf(process.getuid?.() !== 0)('the doctor finds by itself that nothing isolates commands', async () => {
  const { request } = await requestFor('  isolation: auto\n')
  await chown(request.cwd, 4_242, 4_242)
  expect(await found(() => terminalBackends(request, { isOffline: true }))).toMatchObject({
    level: 'warn',
    text: expect.stringMatching(/ready, but commands are not isolated: .*keep keys with hermes auth add\./),
  })
})

needs(process.platform === 'linux' ? await probeIsolation() : 'not Linux')('with isolation, the doctor', () => {
  /** Cgroups as systemd leaves those of a service with `Delegate=yes`, or without. */
  async function cgroupsIn(root: string, { isDelegated }: { readonly isDelegated: boolean }): Promise<CgroupPlaces> {
    const own = join(root, 'cgroup/hermes.service')
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'cgroup.controllers'), isDelegated ? 'cpu memory pids\n' : 'cpu\n')
    await writeFile(join(own, 'cgroup.procs'), `${process.pid}\n`)
    await writeFile(join(own, 'cgroup.subtree_control'), '')
    await writeFile(join(root, 'self'), '0::/hermes.service\n')
    return { root: join(root, 'cgroup'), self: join(root, 'self') }
  }

  it.each([
    [true, /are ended beyond .+ \(kept by a cgroup below \S+\/cgroup\/hermes\.service\)/],
    [false, /are ended beyond .+ \(looked at twice a second; no cgroup is delegated to Hermes\)/],
  ])('says what keeps the limits of processes and memory; delegated: %s', async (isDelegated, says) => {
    const { request, root } = await requestFor('  isolation: on\n')
    const cgroups = await cgroupsIn(root, { isDelegated })
    const finding = await found(() => terminalBackends(request, { isOffline: true, cgroups }))
    expect(finding).toMatchObject({ level: 'ok', text: expect.stringMatching(says) })
  })
})
