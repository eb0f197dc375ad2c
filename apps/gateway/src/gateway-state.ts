// How gateways of a home are doing, told by files: one of each process, gone with it.
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import type { PlatformReport } from './platforms/run-platforms.js'

/** A gateway counts as deaf on a platform that brought no news for so long. */
const HEARS_WITHIN_MS = 120_000
/** Each tells every half minute; one that was silent for so long has ended, and its number may be that of any other program. */
const TELLS_WITHIN_MS = 120_000

/** A gateway, as it told last. */
interface GatewayState {
  readonly pid: number
  readonly startedAtMs: number
  readonly address: string
  readonly model: string
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

/** A platform as `/health/detailed` shows it. */
export interface PlatformHealth {
  readonly name: string
  readonly state: string
  /** Whether it brings what people write. */
  readonly hears: boolean
  readonly detail: string
}

/** How platforms are doing now. */
export function platformHealth(reports: readonly PlatformReport[], nowMs: number): readonly PlatformHealth[] {
  return reports.map((report) => {
    const { hears, text: detail } = hearing(report, nowMs)
    return { name: report.name, state: report.state.type, hears, detail }
  })
}

/** Whether a platform brings what people write, in words. */
export function hearing(
  { state, heardAtMs }: PlatformReport,
  nowMs: number,
): { readonly hears: boolean; readonly text: string } {
  switch (state.type) {
    case 'connected': {
      const ageMs = heardAtMs === null ? Number.POSITIVE_INFINITY : nowMs - heardAtMs
      const hears = ageMs <= HEARS_WITHIN_MS
      const since = heardAtMs === null ? 'never' : `${Math.round(ageMs / 1000)} s ago`
      return {
        hears,
        text: hears ? `hears as ${state.account}` : `connected as ${state.account}, but deaf: last heard ${since}`,
      }
    }
    case 'waiting':
      return { hears: false, text: `tries again: ${state.error}` }
    case 'failed':
      return { hears: false, text: `off until the configuration changes: ${state.error}` }
    case 'connecting':
    case 'closed':
      return { hears: false, text: state.type }
    default:
      return state satisfies never
  }
}

/** Asks a gateway to end. One that is gone needs no asking. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function folderOf(home: string): string {
  return join(home, 'gateway')
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
