import { readdirSync, readFileSync } from 'node:fs'

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Memory of a group of processes in MB, what they share counted once (`Pss` of Linux). */
export function memoryOf(group) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const ofGroup = pids.filter(
    (pid) =>
      read(`/proc/${pid}/stat`)
        .replace(/^.*\) /s, '')
        .split(' ')[2] === String(group),
  )
  return ofGroup.reduce((sum, pid) => sum + memoryOfProcess(pid), 0)
}

/** Of one process. */
export const memoryOfProcess = (pid) =>
  Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1000
