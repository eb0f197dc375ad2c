import { type ChildProcess, spawn } from 'node:child_process'
import { HermesError } from '@hermes/contracts'
import type { IsolatedProgram } from '../isolation/isolated-program.js'
import type { OrphanGuard } from '../local/orphan-guard.js'

/**
 * Starts a program of this machine in a session of its own, with pipes for its output. `socket` is the one that what it starts has among its
 * variables, see {@link OrphanGuard}. @throws HermesError `environment.spawn_failed`.
 */
export function spawnHeld(
  { program, args, env, descriptors, isConfined, mark }: IsolatedProgram,
  settings: {
    readonly cwd: string
    readonly guard: OrphanGuard
    readonly stdin: 'ignore' | 'pipe'
    readonly socket?: string | undefined
  },
): Promise<ChildProcess> {
  const { cwd, guard, stdin, socket } = settings
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: isConfined ? { ...env, ...guard.mark } : env,
      detached: true,
      stdio: [stdin, 'pipe', 'pipe', (isConfined ? mark?.descriptor : guard.channel()) ?? 'ignore', ...descriptors],
    })
    if (child.pid !== undefined) isConfined ? guard.add(child.pid, socket) : guard.begun(child.pid)
    child.once('spawn', () => resolve(child))
    child.once('error', (error) => {
      const message = `Cannot start a program in ${cwd}: ${error.message}.`
      reject(new HermesError(message, { code: 'environment.spawn_failed', cause: error }))
    })
  })
}
