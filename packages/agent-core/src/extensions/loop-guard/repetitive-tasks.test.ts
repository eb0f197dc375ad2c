import { expect, it } from 'vitest'
import { REPETITIVE_TASKS } from './__fixtures__/repetitive-tasks.js'
import { LoopGuard } from './loop-guard.js'

const TASKS = Object.entries(REPETITIVE_TASKS)

it(`stops none of ${TASKS.length} tasks that repeat themselves by nature, even where nobody watches`, () => {
  expect(TASKS.length).toBeGreaterThanOrEqual(50)
  const stopped = TASKS.flatMap(([name, steps]) => {
    const guard = new LoopGuard({ hardStops: true })
    for (const [at, { tool, args, effect, text, isError }] of steps.entries()) {
      const verdict = guard.before(tool, args)
      if (verdict.type !== 'allow') return [`${name}: ${verdict.type} at call ${at + 1}`]
      guard.after({ toolName: tool, args, effect, outcome: { content: [{ type: 'text', text }], isError } })
    }
    return guard.halted === null ? [] : [`${name}: ${guard.halted}`]
  })
  expect(stopped).toEqual([])
})
