import { formatDuration } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput, CommandTask } from '@hermes/contracts/extension'
import { parameters, say, sessionOf, text, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

/** What a run does, those of delegated tasks included, and who is asked. */
export function commandsOfRuns(services: SessionServices): readonly Command[] {
  return [
    {
      name: 'stop',
      summary: 'stop the run (also Ctrl-C)',
      duringRun: 'allowed',
      scope: 'anyone',
      run: (_, context) => {
        const session = sessionOf(context)
        if (!session.isBusy) return say('Nothing is running.')
        session.stop()
        return []
      },
    },
    {
      name: 'steer',
      summary: 'tell the run something (also Alt-S)',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({ text: text('what to tell the run') }, ['text']),
      changes: ['queue'],
      run: async ({ text: note }, context) => {
        const session = sessionOf(context)
        if (!session.isBusy) return { type: 'change', change: { type: 'queue', text: note as string } }
        await session.steer(note as string)
        return []
      },
    },
    {
      name: 'queue',
      aliases: ['q'],
      summary: 'send once the run has ended',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({ text: text('a message') }, ['text']),
      changes: ['queue'],
      run: ({ text: message }) => ({ type: 'change', change: { type: 'queue', text: message as string } }),
    },
    {
      name: 'background',
      aliases: ['bg'],
      summary: 'have it done in a session of its own; the result comes by itself',
      duringRun: 'allowed',
      parameters: parameters({ text: text('what to do') }, ['text']),
      run: async ({ text: task }, context) => {
        const id = await sessionOf(context).tasks.start(task as string)
        return say(`Task ${id} is under way. /agents shows it, /agents kill ${id} ends it.`)
      },
    },
    {
      name: 'btw',
      summary: 'ask about the conversation without adding to it',
      duringRun: 'allowed',
      parameters: parameters({ text: text('a question') }, ['text']),
      run: async ({ text: question }, context) => {
        const answer = await sessionOf(context).aside(question as string, { signal: context.signal })
        return answer === '' ? say('The model said nothing.') : { type: 'text', format: 'markdown', text: answer }
      },
    },
    {
      name: 'agents',
      aliases: ['children', 'tasks'],
      usage: '[kill N | pause [N] | resume [N] | steer N TEXT]',
      summary: 'the delegated tasks',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({
        verb: {
          type: 'string',
          enum: ['kill', 'pause', 'resume', 'steer'],
          description: 'kill, pause, resume or steer',
        },
        id: { type: 'string', description: 'the number of a task' },
        text: text('what to tell it'),
      }),
      complete: ([verb], context) =>
        verb === undefined ? [] : (context.session?.tasks.list() ?? []).filter(isOpen).map(({ id }) => id),
      run: ({ verb, id = '', text: note = '' }, context) =>
        verb === undefined
          ? list(services, context)
          : act(context, verb as Verb, { id: id as string, note: note as string }),
    },
    {
      name: 'details',
      summary: 'all of the last call of a tool, or of the Nth last: arguments and output',
      duringRun: 'allowed',
      scope: 'anyone',
      parameters: parameters({
        call: { type: 'integer', minimum: 1, default: 1, description: 'how many calls ago' },
      }),
      changes: ['details'],
      run: ({ call }) => ({ type: 'change', change: { type: 'details', call: call as number } }),
    },
    {
      name: 'yolo',
      summary: 'stop or go on asking for approval',
      duringRun: 'allowed',
      changes: ['yolo'],
      run: () => {
        if (services.isAsking()) return { type: 'change', change: { type: 'yolo' } }
        throw usageError('approvals.mode is off in config.yaml: nothing is asked in any session.')
      },
    },
    {
      name: 'exit',
      aliases: ['quit'],
      summary: 'leave (also Ctrl-D)',
      duringRun: 'allowed',
      needsSession: false,
      changes: ['leave'],
      run: () => ({ type: 'change', change: { type: 'leave' } }),
    },
  ]
}

type Verb = 'kill' | 'pause' | 'resume' | 'steer'

function list({ clock }: SessionServices, context: CommandContext): CommandOutput {
  const rows = sessionOf(context)
    .tasks.list()
    .map((task) => ({
      cells: [`${'  '.repeat(task.id.split('.').length - 1)}${describeTask(task, clock.now())}`],
      isDim: !isOpen(task),
    }))
  return { type: 'table', rows, empty: 'No tasks were delegated in this conversation.' }
}

function isOpen({ endedAtMs }: CommandTask): boolean {
  return endedAtMs === null
}

async function act(
  context: CommandContext,
  verb: Verb,
  { id, note }: { readonly id: string; readonly note: string },
): Promise<CommandOutput> {
  const { tasks } = sessionOf(context)
  switch (verb) {
    case 'kill':
      return say(tasks.kill(known(context, id)) ? `Task ${id} ends now.` : notRunning(id))
    case 'pause':
      return say(tasks.pause(id || undefined) ? `${nameOf(id)} held before the next step.` : notRunning(id))
    case 'resume':
      return say(tasks.unpause(id || undefined) ? `${nameOf(id)} going on.` : 'Nothing was held there.')
    case 'steer': {
      if (note === '') throw usageError('It needs some text: /agents steer 1 TEXT')
      const how = await tasks.steer(known(context, id), note)
      return say(how === null ? notRunning(id) : `Task ${id} was told${how === 'queued' ? ' too late' : ''}.`)
    }
    default:
      return verb satisfies never
  }
}

function known(context: CommandContext, id: string): string {
  const ids = sessionOf(context)
    .tasks.list()
    .map((task) => task.id)
  if (ids.includes(id)) return id
  throw usageError(`There is no task "${id}". There are: ${ids.join(', ') || 'none'}.`)
}

function notRunning(id: string): string {
  return `${id === '' ? 'Nothing' : `Task ${id}`} is not at work.`
}

function nameOf(id: string): string {
  return id === '' ? 'All tasks are' : `Task ${id} is`
}

/** One delegated task in a line. */
export function describeTask(task: CommandTask, nowMs: number): string {
  const { id, goal, state, activity, toolCalls, startedAtMs, endedAtMs, isBackground } = task
  const took = formatDuration((endedAtMs ?? nowMs) - startedAtMs)
  const doing = activity === '' || activity === state ? '' : ` · ${activity}`
  const where = isBackground ? ', background' : ''
  return `${id}. ${state}${where} · ${took} · ${toolCalls} ${toolCalls === 1 ? 'call' : 'calls'}${doing} · ${goal.trim().split('\n')[0]}`
}
