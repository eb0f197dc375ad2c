import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@hermes/contracts'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { probeIsolation } from '../isolation/index.js'
import { groupExists } from '../processes/process-tree.js'
import { testPermit } from '../testing/index.js'
import { createLocalEnvironment } from './local-environment.js'

const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

interface RunningAgent {
  readonly agent: ChildProcess
  readonly cwd: string
  readonly outputDir: string
  readonly foregroundGroup: number
  readonly backgroundId: string
  readonly programGroup: number
}

async function startAgent(...more: readonly string[]): Promise<RunningAgent> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sandbox-')))
  const [cwd, outputDir] = [join(root, 'work'), join(root, 'output')]
  await mkdir(cwd)
  const args = [
    '--conditions=@hermes/source',
    '--import',
    fixture('../../../testkit/src/__fixtures__/load-sources.mjs'),
    fixture('agent.mjs'),
    cwd,
    outputDir,
    ...more,
  ]
  const agent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    agent.kill('SIGKILL')
    await rm(root, { recursive: true, force: true })
  })
  const failed = once(agent, 'exit').then(() => {
    throw new Error('The agent ended by itself.')
  })
  const [line] = (await Promise.race([once(agent.stdout!, 'data'), failed])) as [Buffer]
  failed.catch(() => undefined)
  const [, foreground, , backgroundId, , program] = line.toString().trim().split(' ')
  return {
    agent,
    cwd,
    outputDir,
    foregroundGroup: Number(foreground),
    backgroundId: backgroundId!,
    programGroup: Number(program),
  }
}

async function crash(agent: ChildProcess): Promise<void> {
  agent.kill('SIGKILL')
  await once(agent, 'exit')
}

const open = ({ cwd, outputDir }: RunningAgent) => {
  const environment = createLocalEnvironment({ cwd, outputDir, home: cwd, env: { PATH: '/usr/bin:/bin' } })
  onTestFinished(() => environment.close())
  return environment
}

const SLEEPS = ['sleep 61', 'sleep 62', 'sleep 63']

/** Which of the sleeping programs of an agent run. */
async function sleeping({ cwd }: RunningAgent): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const at = await readlink(`/proc/${pid}/cwd`).catch(() => '')
      return at === cwd ? readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '') : ''
    }),
  )
  return found.map((line) => line.replaceAll('\0', ' ').trim()).filter((line) => SLEEPS.includes(line))
}

needs(await probeIsolation())('isolated commands', () => {
  it.each([[['alone']], [[]]])(
    'end with the agent, with what they left and programs that are spoken to: %j',
    async (alone) => {
      const started = await startAgent('isolated', ...alone)
      while ((await sleeping(started)).length < SLEEPS.length) await systemClock.sleep(20)
      await crash(started.agent)
      while ((await sleeping(started)).length > 0) await systemClock.sleep(20)
      const [background] = open(started).processes()
      expect(background?.info().status).toBe(alone.length === 0 ? 'running' : undefined)
      await writeFile(join(started.cwd, 'stop'), '')
      expect((await background?.wait())?.exitCode).toBe(alone.length === 0 ? 7 : undefined)
    },
  )
})

it('leaves the processes of a living agent alone, and ends commands and programs of one that is killed, not what runs in the background', async () => {
  const running = await startAgent()
  const groups = [running.foregroundGroup, running.programGroup]
  expect(groups.map(groupExists)).toEqual([true, true])
  const scratch = async () => readdir(join(running.outputDir, 'shells')).catch(() => [])
  expect(await scratch()).toHaveLength(1)
  const beside = open(running)
  expect(beside.processes()).toEqual([])
  await beside.close()
  expect(groups.map(groupExists)).toEqual([true, true])
  await crash(running.agent)
  while (groups.some(groupExists)) await systemClock.sleep(20)

  const first = open(running)
  const [found] = first.processes()
  expect(found!.info()).toMatchObject({ id: running.backgroundId, status: 'running', cwd: running.cwd })
  expect(found!.write('text')).toBe(false)
  expect(await found!.wait({ timeoutMs: 1 })).toBeNull()
  await first.exec(testPermit({ type: 'spawn', command: 'true', cwd: running.cwd, backend: 'local' }), 'true')
  const { pid } = found!.info()
  await first.close({ keepProcesses: true })
  expect(await scratch()).toEqual([])

  // It ends while no agent is there.
  await writeFile(join(running.cwd, 'stop'), '')
  const exitFile = join(running.outputDir, 'processes', `${running.backgroundId}.exit`)
  while ((await stat(exitFile).catch(() => null)) === null) await systemClock.sleep(20)
  const [ended] = open(running).processes()
  expect(ended!.info()).toMatchObject({ pid, status: 'exited', exitCode: 7 })
  expect(ended!.output()).toBe('up\ninput ended\ndown\n')
})

it('kills a process that was found again, with its children', async () => {
  const running = await startAgent()
  await crash(running.agent)
  const [found] = open(running).processes()
  const { pid } = found!.info()
  await found!.kill()
  expect(found!.info()).toMatchObject({ status: 'exited', signal: null })
  while (groupExists(pid)) await systemClock.sleep(20)
})
