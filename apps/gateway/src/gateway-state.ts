// How gateways of a home are doing, told by files: one of each process, gone with it.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import type { PlatformReport } from './platforms/platform-health.js'

/** Each tells every half minute; one that was silent for so long has ended, and its number may be that of any other program. */
const TELLS_WITHIN_MS = 120_000

/** A gateway, as it told last. */
export interface GatewayState {
  readonly pid: number
  readonly startedAtMs: number
  readonly address: string
  readonly model: string
  /** Started without what others brought, after three starts that came to nothing. */
  readonly isSafe: boolean
  /** A supervisor starts it again. */
  readonly isSupervised: boolean
  /** Where a terminal that closes ends it by the signal that has others read their configuration again. */
  readonly isInTerminal: boolean
  /** Of its command line. */
  readonly flags: readonly string[]
  readonly platforms: readonly PlatformReport[]
  readonly updatedAtMs: number
}

/** Tells how this process is doing. */
interface StateFile {
  write(state: Omit<GatewayState, 'pid'>): Promise<void>
  remove(): Promise<void>
}

export function stateFile(home: string, pid: number): StateFile {
  const file = join(folderOf(home), `${pid}.json`)
  return {
    write: (state) => writePrivate(file, `${JSON.stringify({ pid, ...state })}\n`),
    remove: () => rm(file, { force: true }),
  }
}

/** The gateways of a home that run, the oldest first; forgets those that ended without a word. */
export async function gatewayStates(home: string, nowMs: number): Promise<readonly GatewayState[]> {
  const names = await readdir(folderOf(home)).catch(() => [])
  const states: GatewayState[] = []
  for (const name of names.filter((one) => /^\d+\.json$/.test(one))) {
    const file = join(folderOf(home), name)
    const state = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as GatewayState,
      () => null,
    )
    if (state && nowMs - state.updatedAtMs <= TELLS_WITHIN_MS && isRunning(state.pid)) states.push(state)
    else await rm(file, { force: true })
  }
  return states.sort((one, other) => one.startedAtMs - other.startedAtMs)
}

/** Tells a gateway something. One that is gone needs no telling. */
export function signalProcess(pid: number, signal: 'SIGTERM' | 'SIGUSR2' | 'SIGHUP'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function folderOf(home: string): string {
  return join(home, 'gateway')
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
