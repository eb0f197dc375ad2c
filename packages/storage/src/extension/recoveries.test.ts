import { describe, expect, it } from 'vitest'
import runs from '../__fixtures__/recorded-runs.json' with { type: 'json' }
import { createRecoveries, type LearningStep } from './recoveries.js'

type RecordedStep = readonly [tool: string, subject: string, printed: string, code: number | 'error']

/** A call as it was recorded: a command, or a file of the workspace. */
function toStep([tool, subject, text, code]: RecordedStep): LearningStep {
  const hasFailed = code !== 0
  if (tool === 'terminal') return { tool, args: { command: subject }, hasFailed, text, paths: [], edits: false }
  const isSearch = tool === 'search_files'
  const edits = !hasFailed && (tool === 'write_file' || tool === 'patch')
  return { tool, args: { path: subject }, hasFailed, text, paths: isSearch ? [] : [subject], edits }
}

function learnt(steps: readonly RecordedStep[]): readonly string[] {
  const recoveries = createRecoveries()
  return steps.flatMap((step) => recoveries.observe(toStep(step))?.fix ?? [])
}

describe('recorded runs', () => {
  const recorded = runs as unknown as readonly { name: string; learns: string | null; steps: readonly RecordedStep[] }[]

  it('with a real recovery are learnt from, at least 12 of 15, and no other', () => {
    const [real, other] = [
      recorded.filter(({ learns }) => learns !== null),
      recorded.filter(({ learns }) => learns === null),
    ]
    expect([real.length, other.length]).toEqual([15, 15])
    const missed = real.filter(({ learns, steps }) => !learnt(steps).some((fix) => fix.includes(learns!)))
    expect(missed.length, missed.map(({ name }) => name).join(', ')).toBeLessThanOrEqual(3)
    // What is learnt of a run is the one thing that helped.
    for (const { name, steps } of real) expect(learnt(steps).length, name).toBeLessThanOrEqual(1)
    expect(other.filter(({ steps }) => learnt(steps).length > 0).map(({ name }) => name)).toEqual([])
  })
})
