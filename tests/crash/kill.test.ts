// Kills the CLI with SIGKILL in half of the phases of a tool-using run, drawn by HERMES_TEST_SEED; with HERMES_TEST_KILLS, in every phase and
// at random moments. After each kill everything that had been shown
// must be in the database, the database sound, no process left, the session must go on with `-c` and its prefix, and no command may
// have run twice. HERMES_TEST_KILLS sets how often, HERMES_TEST_SEED repeats a choice of moments.

import { describe, expect, it, onTestFailed } from 'vitest'
import { type KillReport, killRun, type Target } from './killed-run.js'
import { PHASES, type Phase } from './phase.js'

const SEED = Number(process.env['HERMES_TEST_SEED'] ?? Date.now() % 1_000_000)
const { HERMES_TEST_KILLS } = process.env
const WANTED = PHASES.filter((_, index) => HERMES_TEST_KILLS !== undefined || (index + SEED) % 2 === 0)
const KILLS = Number(HERMES_TEST_KILLS ?? WANTED.length)

describe(`a run killed ${KILLS} times (seed ${SEED})`, () => {
  it('loses nothing that was shown, stays sound, leaves no process, continues, and repeats no side effect', {
    timeout: KILLS * 20_000,
  }, async () => {
    const random = mulberry32(SEED)
    const reports: KillReport[] = []
    onTestFailed(() => console.error(reports.map((report) => JSON.stringify(report)).join('\n')))
    const isDone = () => killed(reports).length >= KILLS && missing(reports).length === 0
    for (let attempt = 0; !isDone() && attempt < KILLS * 3; attempt++)
      reports.push(await killRun(chooseTarget(reports, random), random))
    console.log(summary(reports))
    expect(killed(reports).length).toBeGreaterThanOrEqual(KILLS)
    expect(missing(reports)).toEqual([])
  })
})

function killed(reports: readonly KillReport[]): readonly KillReport[] {
  return reports.filter((report) => report.phase !== null)
}

function missing(reports: readonly KillReport[]): readonly Phase[] {
  return WANTED.filter((phase) => !reports.some((report) => report.phase === phase))
}

/** A phase nothing has hit yet; once all were hit, any phase or any moment. */
function chooseTarget(reports: readonly KillReport[], random: () => number): Target {
  const left = missing(reports)
  const among: readonly Target[] = left.length > 0 ? left : [...PHASES, 'any moment', 'any moment']
  return among[Math.floor(random() * among.length)]!
}

function summary(reports: readonly KillReport[]): string {
  const lines = PHASES.map((phase) => {
    const hits = reports.filter((report) => report.phase === phase)
    const aimed = hits.filter((report) => report.target === phase).length
    return `${String(hits.length).padStart(5)}  ${phase} (${aimed} aimed at it)`
  })
  const late = reports.length - killed(reports).length
  const slowest = Math.max(...reports.map((report) => report.resumedInMs))
  return `Kills by phase, seed ${SEED}:\n${lines.join('\n')}\n${String(late).padStart(5)}  too late, not counted\nSlowest continuation: ${slowest} ms`
}

/** A small seeded random generator, so that a failing run can be repeated. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
