// What the tests cost by package, against shares of scripts/test-shares.json.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'

/** Processor time of `calibrate` on the machine that the shares were taken on, doing nothing else. */
const REFERENCE_MS = 140
/** Share of the processors that others may have while a limit on the clock counts. Daemons that tests start are among them. */
const OTHERS = 0.1
/** How much longer than its limit a whole run may take before it fails: rented machines differ by that much from one hour to the next. */
const NOISE = 1.2

/**
 * Processor time that a fixed piece of work takes now, in milliseconds. It goes up with that of the tests where the machine is slower, or
 * where two programs share a core, so that a share means the same everywhere.
 */
export function calibrate() {
  const before = process.cpuUsage()
  let text = 'calibrated'
  for (let round = 0; round < 60; round++) {
    const rows = Array.from({ length: 2_000 }, (_, index) => ({ index, text: `${text} ${index * round}` }))
    text = createHash('sha256')
      .update(JSON.stringify(JSON.parse(JSON.stringify(rows))))
      .digest('hex')
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/**
 * @param {{ costs: string, shares: string, root: string, calibrationMs: number }} options files with what was spent and what may be
 * @returns {{ lines: string[], isOver: boolean }} one line for each package, the dearest first, in seconds of the reference machine
 */
export function reckon({ costs, shares, root, calibrationMs }) {
  const { packages: allowed } = JSON.parse(readFileSync(shares, 'utf8'))
  const spent = new Map()
  if (!existsSync(costs)) return { lines: [], isOver: false }
  for (const line of readFileSync(costs, 'utf8').trim().split('\n')) {
    const { file, cpuMs } = JSON.parse(line)
    const name = packageOf(relative(root, file).replaceAll('\\', '/'))
    spent.set(name, (spent.get(name) ?? 0) + (cpuMs / 1_000) * (REFERENCE_MS / calibrationMs))
  }
  const rows = [...spent].sort(([, a], [, b]) => b - a)
  const isAbove = ([name, seconds]) => seconds > (allowed[name] ?? 0)
  const lines = rows.map(([name, seconds]) => {
    const share =
      allowed[name] === undefined ? 'no share: add one to scripts/test-shares.json' : `of ${allowed[name]} s`
    return `${name.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s ${share}${isAbove([name, seconds]) ? '  TOO MUCH' : ''}`
  })
  return { lines, isOver: rows.some(isAbove) }
}

/**
 * When it is, and what all processors and this process with its children have done so far, in seconds; null where that cannot be known.
 * @typedef {{ clock: number, all: number | null, own: number | null }} Processors
 * @returns {Processors}
 */
export function processors() {
  const clock = performance.now() / 1_000
  if (process.platform !== 'linux') return { clock, all: null, own: null }
  // user, nice, system, idle, iowait, irq, softirq, steal: hundredths of a second.
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
  const own = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
  return { clock, all: (user + nice + system + irq + softirq + steal) / 100, own: own / 100 }
}

/**
 * Whether a whole run took longer than it may, on a machine as fast as the reference. Time on the clock is evidence only when other programs were idle.
 * @param {{ before: Processors, after: Processors, shares: string, isWhole: boolean, calibrationMs: number }} options
 * @returns {{ line: string, isOver: boolean }}
 */
export function clockVerdict({ before, after, shares, isWhole, calibrationMs }) {
  const limit = JSON.parse(readFileSync(shares, 'utf8')).clock
  const seconds = after.clock - before.clock
  const others =
    after.all === null ? null : (after.all - before.all - (after.own - before.own)) / (seconds * availableParallelism())
  const text = `${seconds.toFixed(0)} s on the clock`
  if (!isWhole) return { line: text, isOver: false }
  if (others === null || others > OTHERS) {
    const busy =
      others === null
        ? 'how busy the machine was is not known'
        : `other programs took ${(100 * others).toFixed(0)} % of it`
    return { line: `${text}; ${busy}, so the limit of ${limit} s does not count`, isOver: false }
  }
  // A faster machine gets no shorter limit: much of the time is spent waiting.
  const slower = Math.max(1, calibrationMs / REFERENCE_MS)
  const isOver = seconds > limit * slower * NOISE
  const warning = seconds > limit * slower ? '  over it, within what machines differ by' : ''
  return { line: `${text} of ${(limit * slower).toFixed(0)} s${isOver ? '  TOO MUCH' : warning}`, isOver }
}

/** `packages/storage`, `apps/cli`, `tests/cli`. */
function packageOf(path) {
  return path.split('/').slice(0, 2).join('/')
}
