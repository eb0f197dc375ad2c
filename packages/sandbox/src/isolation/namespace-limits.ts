import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** What the isolated programs of one environment may use together. */
export interface ProgramLimits {
  /** Default 2,048. */
  readonly processes: number
  /** Resident, without what they share. Default three quarters of the machine's memory. */
  readonly memoryBytes: number
}

const PAGE_BYTES = 4_096
const LOOK_EVERY_MS = 500
const [MEGABYTE, GIGABYTE] = [2 ** 20, 2 ** 30]

/** What holds where configuration says nothing else. */
export function defaultLimits(): ProgramLimits {
  return { processes: 2_048, memoryBytes: Math.floor(totalmem() * 0.75) }
}

/** As a line, such as `2048 processes and 17.7 GB of memory`. */
export function limitsLine({ processes, memoryBytes }: ProgramLimits): string {
  return `${processes} processes and ${inWords(memoryBytes)} of memory`
}

/**
 * Looks twice a second at the processes of a namespace by the `/proc` of its first process, and calls `stop` with a line once they use more
 * than they may, `found` as long as it sees any besides the first. Keeps nobody alive. Gives what ends it.
 */
export function watchLimits(
  init: number,
  limits: ProgramLimits,
  { stop, found }: { readonly stop: (why: string) => void; readonly found: () => void },
): () => void {
  const timer = setInterval(() => {
    const proc = `/proc/${init}/root/proc`
    const processes = processesIn(proc)
    if (processes.length > 1) found()
    const why = excess(proc, processes, limits)
    if (why === null) return
    clearInterval(timer)
    stop(why)
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function processesIn(proc: string): readonly string[] {
  try {
    return readdirSync(proc).filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function excess(proc: string, processes: readonly string[], limits: ProgramLimits): string | null {
  if (processes.length > limits.processes)
    return `they were ${processes.length} processes, and ${limits.processes} may run`
  const bytes = processes.reduce((sum, name) => sum + ownMemory(`${proc}/${name}/statm`), 0)
  if (bytes <= limits.memoryBytes) return null
  return `they used ${inWords(bytes)} of memory, and ${inWords(limits.memoryBytes)} may be used`
}

/** 0 for a process that has ended. */
function ownMemory(path: string): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(path, 'latin1').split(' ').map(Number)
    return (resident - shared) * PAGE_BYTES
  } catch {
    return 0
  }
}

function inWords(bytes: number): string {
  return bytes < GIGABYTE ? `${Math.round(bytes / MEGABYTE)} MB` : `${(bytes / GIGABYTE).toFixed(1)} GB`
}
