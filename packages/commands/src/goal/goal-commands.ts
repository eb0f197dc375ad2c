import type { Command, CommandContext, CommandOutput, CommandResult, CommandSession } from '@hermes/contracts/extension'
import { parameters, say, sessionOf, text, usageError } from '../session/parameters.js'
import { type Goal, goalIn, keepGoal, newGoal } from './goal.js'

const VERBS = ['show', 'pause', 'resume', 'clear']

/** Commands that set, show and hold what a session works towards. */
export function goalCommands({ mostTurns }: { readonly mostTurns: number }): readonly Command[] {
  return [
    {
      name: 'goal',
      usage: '[TEXT | pause | resume | clear]',
      summary: 'work on, turn after turn, until it is reached',
      duringRun: 'allowed',
      changes: ['send'],
      parameters: parameters({ text: text('what is to be reached') }),
      complete: (words) => (words.length === 0 ? VERBS : []),
      run: ({ text: words = '' }, context) => goal(context, (words as string).trim(), mostTurns),
    },
    {
      name: 'subgoal',
      usage: '[TEXT | remove N | clear]',
      summary: 'what the goal takes besides',
      duringRun: 'allowed',
      parameters: parameters({ text: text('what has to hold besides') }),
      complete: (words) => (words.length === 0 ? ['remove', 'clear'] : []),
      run: ({ text: words = '' }, context) => subgoal(sessionOf(context), (words as string).trim()),
    },
  ]
}

async function goal(context: CommandContext, words: string, mostTurns: number): Promise<CommandResult> {
  const session = sessionOf(context)
  const now = goalIn(session.entries())
  switch (words) {
    case '':
    case 'show':
    case 'status':
      return say(now === null ? 'There is no goal. /goal TEXT sets one.' : describeState(now, mostTurns))
    case 'pause':
      if (now?.state !== 'active') return say('There is no goal that is worked towards.')
      await keepGoal(session, { ...now, state: 'paused', reason: 'you held it' })
      return say('The goal waits. /goal resume goes on with it.')
    case 'clear':
      if (now === null) return say('There is no goal.')
      await keepGoal(session, null)
      return say('There is no goal any more.')
    case 'resume':
      if (now === null) return say('There is no goal. /goal TEXT sets one.')
      refuseDuringRun(session)
      await keepGoal(session, { ...now, state: 'active', turns: 0, failures: 0, reason: '' })
      return { type: 'change', change: { type: 'send', text: `Go on towards the goal: ${now.text}` } }
    default:
      refuseDuringRun(session)
      await keepGoal(session, newGoal(words))
      return [
        say(
          `Works on until a judge says that it is reached, ${mostTurns} more turns at most. What you type comes first.`,
        ),
        { type: 'change', change: { type: 'send', text: words } },
      ]
  }
}

function refuseDuringRun({ isBusy }: CommandSession): void {
  if (isBusy) throw usageError('A run is under way: /stop it, or wait for its end.')
}

async function subgoal(session: CommandSession, words: string): Promise<CommandOutput> {
  const now = goalIn(session.entries())
  if (now === null) throw usageError('There is no goal yet: /goal TEXT sets one.')
  const { criteria } = now
  if (words === '') return list(now)
  if (words === 'clear') {
    await keepGoal(session, { ...now, criteria: [] })
    return say('The goal takes nothing besides.')
  }
  const [, number] = /^remove\s+(\d+)$/.exec(words) ?? []
  if (number === undefined) {
    await keepGoal(session, { ...now, criteria: [...criteria, words] })
    return say(`${criteria.length + 1}. ${words}`)
  }
  const removed = criteria[Number(number) - 1]
  if (removed === undefined) throw usageError(`There is no number ${number}; there are ${criteria.length}.`)
  await keepGoal(session, { ...now, criteria: criteria.filter((_, index) => index !== Number(number) - 1) })
  return say(`Not needed any more: ${removed}`)
}

function list({ criteria }: Goal): CommandOutput {
  const rows = criteria.map((criterion, index) => ({ cells: [`${index + 1}.`, criterion] }))
  return { type: 'table', rows, empty: 'The goal takes nothing besides. /subgoal TEXT adds something.' }
}

function describeState({ text: words, criteria, state, turns, reason }: Goal, mostTurns: number): string {
  const why = reason === '' ? '' : `: ${reason}`
  const also = criteria.map((criterion, index) => `  ${index + 1}. ${criterion}`)
  return [`${words}`, ...also, `${LABEL[state]}, ${turns} of ${mostTurns} turns${why}`].join('\n')
}

const LABEL: Readonly<Record<Goal['state'], string>> = { active: 'under way', paused: 'waiting', done: 'reached' }
