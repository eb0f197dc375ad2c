// A goal: after each turn a judge looks whether it is reached.
//
//   run ends ─▶ judge ─▶ done: said to the person
//                    ├▶ continue: the next turn begins, an ordinary message
//                    └▶ wait: after some time the next turn begins, or with what a person or a result brings
//   a run that was stopped or failed, or no turns left: the goal waits for /goal resume
import { errorLine, isAbort } from '@hermes/contracts'
import type { Extension, Rest, RestEvent } from '@hermes/contracts/extension'
import { describeGoal, type Goal, goalIn, keepGoal } from './goal.js'
import { goalCommands } from './goal-commands.js'
import { judgeRequest, readVerdict, type Verdict } from './judge.js'

const MAX_FAILURES = 2
const MINUTE_MS = 60_000

/** What goals need of a home. */
export interface GoalOptions {
  /** Turns that begin by themselves before a person has to say that they want more. */
  readonly mostTurns: number
  /** Asks the model that judges. Rejects as it does; abort ends it. */
  readonly askJudge: (
    request: { readonly system: string; readonly text: string },
    scope: { readonly sessionId: string; readonly signal: AbortSignal },
  ) => Promise<string>
}

/** Has sessions work on towards a goal. */
export function goals(options: GoalOptions): Extension {
  return {
    name: 'goals',
    setup(api) {
      // A wait takes its time; an input ends it.
      api.hooks.on('rest', (event) => atRest(event, options), { timeoutMs: Number.POSITIVE_INFINITY })
      for (const command of goalCommands(options)) api.commands.add(command)
    },
  }
}

async function atRest(event: RestEvent, options: GoalOptions): Promise<Rest | undefined> {
  const goal = goalIn(event.session.entries)
  if (goal?.state !== 'active') return undefined
  // It goes on once the question that parked it is answered.
  if (event.status === 'parked') return undefined
  if (event.status !== 'completed') return hold(event, goal, ENDED[event.status])
  if (goal.turns >= options.mostTurns) return hold(event, goal, `${goal.turns} turns were not enough`)
  const verdict = await judged(event, goal, options)
  // Held, changed or given more to reach meanwhile: what was judged is another goal.
  if (goalIn(event.session.entries) !== goal) return atRest(event, options)
  if (verdict === null) return hold(event, goal, 'its judge could not be asked')
  switch (verdict.type) {
    case 'done':
      await keepGoal(event, { ...goal, state: 'done', reason: verdict.reason })
      return { say: `Goal reached: ${verdict.reason}` }
    case 'wait':
      return wait(event, goal, verdict, options)
    case 'continue':
      return goOn(event, { ...goal, failures: verdict.isGuess ? goal.failures + 1 : 0 }, verdict.reason, options)
    default:
      return verdict satisfies never
  }
}

const ENDED: Readonly<Record<'interrupted' | 'stopped' | 'failed', string>> = {
  interrupted: 'the run was stopped',
  stopped: 'the run came to a limit',
  failed: 'the run failed',
}

async function hold(event: RestEvent, goal: Goal, reason: string): Promise<Rest> {
  await keepGoal(event, { ...goal, state: 'paused', reason })
  return { say: `The goal waits: ${reason}. /goal resume goes on with it.` }
}

type Judged =
  | Exclude<Verdict, { type: 'continue' }>
  | (Verdict & { readonly type: 'continue'; readonly isGuess: boolean })

/** A judge that fails once is not what stops the work; `null` when it failed again. */
async function judged(event: RestEvent, goal: Goal, { askJudge }: GoalOptions): Promise<Judged | null> {
  const { session, signal, logger } = event
  let problem = 'It gave no verdict.'
  try {
    const verdict = readVerdict(await askJudge(judgeRequest(goal, session.entries), { sessionId: session.id, signal }))
    if (verdict) return verdict.type === 'continue' ? { ...verdict, isGuess: false } : verdict
  } catch (error) {
    if (isAbort(error) || signal.aborted) throw error
    problem = errorLine(error)
  }
  logger.warn('The judge of a goal failed.', { sessionId: session.id, error: problem })
  return goal.failures + 1 < MAX_FAILURES ? { type: 'continue', reason: '', isGuess: true } : null
}

async function wait(
  event: RestEvent,
  goal: Goal,
  { reason, minutes }: Verdict & { readonly type: 'wait' },
  options: GoalOptions,
): Promise<Rest | undefined> {
  await keepGoal(event, { ...goal, failures: 0, reason })
  if (minutes === null) return { say: `The goal waits for you: ${reason}` }
  const kept = goalIn(event.session.entries)
  await event.clock.sleep(minutes * MINUTE_MS, event.signal)
  if (kept === null || goalIn(event.session.entries) !== kept) return atRest(event, options)
  return goOn(event, kept, `${minutes} minutes later: ${reason}`, options)
}

async function goOn(event: RestEvent, goal: Goal, reason: string, { mostTurns }: GoalOptions): Promise<Rest> {
  const turns = goal.turns + 1
  await keepGoal(event, { ...goal, turns, reason })
  const missing = reason === '' ? '' : ` A judge says: ${reason}`
  return {
    say: `Goal, turn ${turns} of ${mostTurns}${reason === '' ? '' : `: ${reason}`}`,
    next: `[The goal is not reached yet.${missing}\nThe goal: ${describeGoal(goal)}\nTake the next step and check what you did. If only the user can go on, say what you need.]`,
  }
}
