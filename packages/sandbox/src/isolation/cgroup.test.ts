// The limits of the kernel, in a folder that behaves like its cgroups: what is written there is what it would obey.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { testPermit } from '../testing/permit.js'
import { isolated } from './__fixtures__/isolated.js'
import { delegatedCgroup, openCgroup } from './cgroup.js'
import { probeIsolation } from './isolation-support.js'

/** As systemd leaves a service with `Delegate=yes`: all of it in the one group that it may divide. */
async function setup({
  controllers = 'cpu memory pids',
  processes = [process.pid],
  named = '0::/app/hermes.service',
} = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-cgroup-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const own = join(root, 'app/hermes.service')
  mkdirSync(own, { recursive: true })
  const put = (name: string, text: string) => writeFileSync(join(own, name), text)
  put('cgroup.controllers', `${controllers}\n`)
  put('cgroup.procs', processes.map((pid) => `${pid}\n`).join(''))
  put('cgroup.subtree_control', '')
  const self = join(root, 'self')
  writeFileSync(self, `4:memory:/elsewhere\n${named}\n`)
  const read = (path: string) => readFileSync(join(own, path), 'utf8').trim()
  const programs = () => readdirSync(own).filter((name) => name.startsWith('hermes-programs-'))
  return { places: { root, self }, own, put, read, programs, named: (line: string) => writeFileSync(self, `${line}\n`) }
}

const limits = { processes: 100, memoryBytes: 5_000_000 }

it('makes a group with limits below a delegated one, and moves there first what would be in the way', async () => {
  const { places, own, put, read, named } = await setup()
  expect(delegatedCgroup(places)).toBe(own)
  const group = openCgroup(limits, places)!
  expect([read('hermes-agent/cgroup.procs'), read('cgroup.subtree_control')]).toEqual([
    `${process.pid}`,
    '+memory +pids',
  ])
  const name = group.path.slice(own.length + 1)
  expect(['memory.max', 'memory.oom.group', 'pids.max'].map((file) => read(`${name}/${file}`))).toEqual([
    '5000000',
    '1',
    '800',
  ])

  // From now on this process is in a group of its own, and the next one is made beside.
  put('cgroup.procs', '')
  named('0::/app/hermes.service/hermes-agent')
  expect(openCgroup(limits, places)?.path).toMatch(new RegExp(`^${own}/hermes-programs-`))
  expect(group.killed()).toBeNull()
  writeFileSync(join(group.path, 'memory.events'), 'low 0\noom 1\noom_kill 3\noom_group_kill 1\n')
  expect(group.killed()).toBe('they used more memory than their cgroup may')
})

it.each([
  ['holds a program that is not ours', { processes: [process.pid, 1] }],
  ['has no say about memory', { controllers: 'cpu pids' }],
  ['is of version 1 alone', { named: '3:pids:/app/hermes.service' }],
  ['lies outside of what is seen', { named: '0::/../app/hermes.service' }],
])('leaves a group alone that %s', async (_title, options) => {
  const { places, own } = await setup(options)
  expect([delegatedCgroup(places), openCgroup(limits, places)]).toEqual([null, null])
  expect(readdirSync(own).toSorted()).toEqual(['cgroup.controllers', 'cgroup.procs', 'cgroup.subtree_control'])
})

needs(await probeIsolation())('isolated commands', () => {
  it('run in that group, and run where it is gone', async () => {
    const { places, own, read, programs } = await setup()
    const { environment, dispose } = await isolated({ cgroups: places })
    onTestFinished(dispose)
    const run = (command: string) =>
      environment.exec(testPermit({ type: 'spawn', command, cwd: environment.cwd(), backend: 'local' }), command)
    expect(await run('echo one')).toMatchObject({ output: 'one\n', exitCode: 0 })
    const [name = ''] = programs()
    // The folder keeps the last number that was written: of the shell which became bubblewrap.
    const entered = read(`${name}/cgroup.procs`)
    await run('true')
    expect([/^\d+$/.test(entered), read(`${name}/cgroup.procs`) === entered]).toEqual([true, false])
    rmSync(join(own, name), { recursive: true })
    expect(await run('echo two')).toMatchObject({ output: 'two\n', exitCode: 0 })
  })
})
