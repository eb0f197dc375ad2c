// Kills the CLI with SIGKILL in every phase and at random moments of a tool-using run. After each kill everything that had been shown
// must be in the database, the database sound, no process left, the session must go on with `-c` and its prefix, and no command may
// have run twice. HERMES_TEST_KILLS sets how often, HERMES_TEST_SEED repeats a choice of moments.

import { describe, expect, it, onTestFailed } from 'vitest'
import { type KillReport, killRun, type Target } from './killed-run.js'
import { PHASES } from './phase.js'

/** Each phase once and a few more; `pnpm soak` kills more often. */
const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? PHASES.length + 2)
const SEED = Number(process.env['HERMES_TEST_SEED'] ?? Date.now() % 1_000_000)

describe(`a run killed ${KILLS} times (seed ${SEED})`, () => {
  it('loses nothing that was shown, stays sound, leaves no process, continues, and repeats no side effect', {
    timeout: KILLS * 20_000,
  }, async () => {
    const random = mulberry32(SEED)
    const reports: KillReport[] = []
    onTestFailed(() => console.error(reports.map((report) => JSON.stringify(report)).join('\n')))
    for (let attempt = 0; killed(reports).length < KILLS && attempt < KILLS * 2; attempt++)
      reports.push(await killRun(chooseTarget(reports, random), random))
    console.log(summary(reports))
    expect(killed(reports)).toHaveLength(KILLS)
    expect(new Set(killed(reports).map((report) => report.phase))).toEqual(new Set(PHASES))
  })
})

function killed(reports: readonly KillReport[]): readonly KillReport[] {
  return reports.filter((report) => report.phase !== null)
}

/** A phase nothing has hit yet; once all were hit, any phase or any moment. */
function chooseTarget(reports: readonly KillReport[], random: () => number): Target {
  const missing = PHASES.filter((phase) => !reports.some((report) => report.phase === phase))
  const among: readonly Target[] = missing.length > 0 ? missing : [...PHASES, 'any moment', 'any moment']
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
