import type { JsonObject } from '@hermes/contracts'
import { type MainProgram, mainProgram, stepsOf } from './main-program.js'
import { tellingLine } from './telling-line.js'
import { isTypingError } from './typing-error.js'

const MAX_STEPS = 60
const MAX_HELPERS = 3
const SHOWN_CHARS = 300
/** What goes away by itself: that it worked the next time says nothing about what was done between. */
const PASSES_BY_ITSELF =
  /\btimed? ?out\b|temporar|try again|ECONNRESET|ETIMEDOUT|EAI_AGAIN|\b(?:429|502|503|504)\b|rate limit|unreachable/i
const OF_PATHS = /no such file|cannot find the (?:file|path)|ENOENT/i

/** A tool call and what came of it. */
export interface LearningStep {
  readonly tool: string
  readonly args: JsonObject
  readonly hasFailed: boolean
  /** What it printed. */
  readonly text: string
  /** The files it was about. */
  readonly paths: readonly string[]
  /** Whether it changed those files. */
  readonly edits: boolean
}

/** A failure, and what helped. */
interface Recovery {
  readonly pattern: string
  readonly tool: string
  readonly fix: string
  /** The program or file. */
  readonly subject: string
}

interface Failure extends LearningStep {
  readonly at: number
  readonly program: MainProgram | null
}

/**
 * Follows the calls of one run. A step that succeeds where the same tool had failed at the same program or path gives what helped: the
 * other way of calling it, or what was run between. `null` for everything else: tests, linters and searches, whose failure is an answer; typing
 * errors; what went away by itself; and code that was edited, which no later session has to edit again.
 */
export function createRecoveries(): { observe(step: LearningStep): Recovery | null } {
  const failures: Failure[] = []
  const fine: (LearningStep & { readonly at: number })[] = []
  let at = 0
  return {
    observe(step) {
      at++
      const program = programOf(step)
      if (step.hasFailed) {
        if (program !== null || step.paths.length > 0) failures.push({ ...step, at, program })
        if (failures.length > MAX_STEPS) failures.shift()
        return null
      }
      const failure = failures.findLast((one) => isSameSubject(one, { ...step, program }))
      const between = fine.filter((one) => failure !== undefined && one.at > failure.at)
      fine.push({ ...step, at })
      if (fine.length > MAX_STEPS) fine.shift()
      if (!failure) return null
      // What failed there is settled, learnt from or not.
      for (let index = failures.length - 1; index >= 0; index--)
        if (isSameSubject(failures[index]!, { ...step, program })) failures.splice(index, 1)
      return recovery(failure, { ...step, program }, between)
    },
  }
}

type Seen = LearningStep & { readonly program: MainProgram | null }

function programOf({ tool, args }: LearningStep): MainProgram | null {
  return tool === 'terminal' && typeof args['command'] === 'string' ? mainProgram(args['command']) : null
}

function isSameSubject(failure: Failure, step: Seen): boolean {
  if (failure.tool !== step.tool) return false
  if (failure.program === null || step.program === null)
    return failure.program === step.program && failure.paths.some((path) => step.paths.includes(path))
  return (
    failure.program.name === step.program.name &&
    failure.program.verb === step.program.verb &&
    areRelated(failure.program.operands, step.program.operands)
  )
}

/** Whether they are about the same: what a failed call named is named again, at least in part. */
function areRelated(failed: readonly string[], worked: readonly string[]): boolean {
  if (failed.length === 0) return true
  return failed.some((left) =>
    worked.some((right) => right.includes(left) || (right.length > 2 && left.includes(right))),
  )
}

function recovery(failure: Failure, step: Seen, between: readonly LearningStep[]): Recovery | null {
  const pattern = tellingLine(failure.text)
  if (pattern === null || between.some(({ edits }) => edits)) return null
  const helpers = between.flatMap(({ tool, args }) => (tool === 'terminal' ? stepsOf(String(args['command'])) : []))
  if (helpers.some(({ writes }) => writes)) return null
  const helped = helpers.filter(({ looks }) => !looks).map(({ written }) => shown(written))
  const before = helped.length === 0 ? '' : [...new Set(helped)].slice(-MAX_HELPERS).join('`, then `')
  const found = { pattern, tool: failure.tool, subject: failure.program?.label ?? failure.paths[0]! }
  const isSame = JSON.stringify(failure.args) === JSON.stringify(step.args)
  if (failure.program === null || step.program === null || isSame)
    return before === '' || PASSES_BY_ITSELF.test(failure.text)
      ? null
      : { ...found, fix: `Run first: \`${before}\`. Then it worked as it was.` }
  const [wrong, right] = [failure.program, step.program]
  if (wrong.inlineCode !== right.inlineCode || isTypingError(wrong.words, right.words)) return null
  if (OF_PATHS.test(pattern) && wrong.operands.join(' ') !== right.operands.join(' ')) return null
  const way = `Instead of \`${shown(wrong.line)}\` this worked: \`${shown(right.line)}\``
  return { ...found, fix: before === '' ? `${way}.` : `${way}, after \`${before}\`.` }
}

function shown(command: string): string {
  const line = command.replace(/\s+/g, ' ').trim()
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line
}
