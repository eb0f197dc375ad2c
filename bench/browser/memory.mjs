import { readdirSync, readFileSync } from 'node:fs'

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Memory of a group of processes in MB, what they share counted once (`Pss` of Linux). @throws Error where there is none */
export function memoryOf(group) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const ofGroup = pids.filter(
    (pid) =>
      read(`/proc/${pid}/stat`)
        .replace(/^.*\) /s, '')
        .split(' ')[2] === String(group),
  )
  // One of them may end while it is looked at.
  const known = ofGroup.map(pssOf).filter(Number.isFinite)
  if (known.length === 0) throw new Error(`there is no process in the group ${group} whose memory can be read`)
  return known.reduce((sum, mb) => sum + mb)
}

/** Of one process. @throws Error where it cannot be read */
export function memoryOfProcess(pid) {
  const mb = pssOf(pid)
  if (!Number.isFinite(mb)) throw new Error(`the memory of process ${pid} cannot be read`)
  return mb
}

const pssOf = (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? Number.NaN) / 1000
