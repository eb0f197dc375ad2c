import type { ChildProcess } from 'node:child_process'
import { PassThrough } from 'node:stream'
import type { Clock } from '@hermes/contracts'
import type { ProgramEnd, RunningProgram } from '@hermes/contracts/environment'
import { type IsolatedProgram, notIsolated, type Started } from '../isolation/isolated-program.js'
import { startHeld, untilStarted } from '../isolation/start-held.js'
import type { OrphanGuard } from '../local/orphan-guard.js'
import { groupExists, killTree, processStartTime } from '../processes/process-tree.js'
import { REGISTER, REGISTER_ON_DESCRIPTORS } from '../shell/shell-script.js'
import { spawnHeld } from './spawn-held.js'

/** What a program of this machine is started with. */
interface LocalProgram {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Missing for a program that runs outside. */
  readonly isolate?: ((requested: Started) => Promise<IsolatedProgram>) | undefined
  readonly onDescriptors?: boolean | undefined
  readonly guard: OrphanGuard
  readonly clock: Clock
}

/** @throws HermesError `environment.spawn_failed`, or what isolating it throws. */
export async function startLocalProgram(launch: LocalProgram): Promise<RunningProgram> {
  const { argv, cwd, env, isolate, guard, clock } = launch
  const script = launch.onDescriptors ? REGISTER_ON_DESCRIPTORS : REGISTER
  const requested = { program: '/bin/sh', args: ['-c', script, 'sh', ...argv], env: { ...env, PWD: cwd } }
  const { result } = await startHeld(
    async () => (isolate ? isolate(requested) : notIsolated(requested)),
    async (held) => {
      const child = await spawnHeld(held, { cwd, guard, stdin: 'pipe' })
      const running = runningProgram(child, launch)
      await untilStarted(held, running.ended, clock)
      return running
    },
  )
  return result
}

function runningProgram(child: ChildProcess, { guard, clock }: LocalProgram): RunningProgram {
  const group = child.pid!
  const startTime = processStartTime(group)
  const kill = () => killTree(group, { clock, ...(startTime === null ? {} : { startTime }) })
  const exit = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const ended = exit.then(async (end) => {
    if (groupExists(group)) await killTree(group, { clock })
    guard.remove(group)
    return end
  })
  child.stdin!.on('error', () => undefined)
  return {
    stdin: child.stdin!,
    // Node throws away what an ended child wrote before anybody listened.
    stdout: child.stdout!.pipe(new PassThrough()),
    stderr: child.stderr!.pipe(new PassThrough()),
    ended,
    async kill() {
      await kill()
      await ended
    },
  }
}
