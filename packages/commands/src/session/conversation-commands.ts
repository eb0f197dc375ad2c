import { HermesError } from '@hermes/contracts'
import type { CompactPlan } from '@hermes/contracts/context'
import type { Entry, Message, ReasoningEffort } from '@hermes/contracts/conversation'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type { Command, CommandContext, CommandOutput, CommandResult, CommandSession } from '@hermes/contracts/extension'
import { shownCommand } from '../arguments.js'
import { clipped, parameters, say, sessionOf, text, usageError } from './parameters.js'
import type { SessionServices } from './services.js'

/** Said where a session is planning. */
export const PLAN_HINT = 'Plan mode: /plan accept has the plan carried out; or say what to change; /plan off leaves it.'

const EFFORTS: readonly ReasoningEffort[] = ['minimal', 'low', 'medium', 'high']
const VIEWS = ['show', 'hide'] as const
const KEPT_TURNS = 2

/** What was said, who answers, and with what. */
export function commandsOfConversation(services: SessionServices): readonly Command[] {
  return [
    {
      name: 'help',
      summary: 'this text',
      duringRun: 'allowed',
      scope: 'anyone',
      needsSession: false,
      run: (_, { commands }) => ({
        type: 'table',
        rows: commands.map((command) => ({ cells: [shownCommand(command), command.summary] })),
        empty: 'There are no commands here.',
      }),
    },
    {
      name: 'model',
      usage: '[ID [PROVIDER]] [--force]',
      summary: 'show or change the model, or who serves it',
      parameters: parameters({
        id: text('the name of a model'),
        provider: text('who serves it; default: the same provider'),
        force: { type: 'boolean' },
      }),
      complete: (words, context) => (words.length > 0 ? [] : (context.session?.models() ?? [])),
      run: ({ id, provider, force }, context) =>
        id === undefined
          ? showModel(context)
          : changeModel(context, {
              model: id as string,
              ...(provider === undefined ? {} : { provider: provider as string }),
              force: force === true,
            }),
    },
    {
      name: 'reasoning',
      usage: '[EFFORT | show | hide]',
      summary: 'how much the model thinks: minimal, low, medium, high, default; or whether that is shown',
      scope: 'anyone',
      duringRun: 'allowed',
      parameters: parameters({ effort: { type: 'string', enum: [...EFFORTS, 'default', ...VIEWS] } }),
      complete: () => [...EFFORTS, 'default', ...VIEWS],
      run: ({ effort }, context) =>
        effort === 'show' || effort === 'hide'
          ? showThoughts(context, effort === 'show')
          : reasoning(sessionOf(context), effort as ReasoningEffort | 'default' | undefined),
    },
    {
      name: 'fast',
      usage: '[on | off | flex]',
      summary: 'answers sooner at a higher price, or when there is room at a lower one, where the provider sells that',
      duringRun: 'allowed',
      parameters: parameters({ tier: { type: 'string', enum: Object.keys(TIERS), description: 'on, off or flex' } }),
      run: ({ tier }, context) => fast(sessionOf(context), tier as keyof typeof TIERS | undefined),
    },
    {
      name: 'tools',
      summary: 'what the agent can use',
      duringRun: 'allowed',
      needsSession: false,
      run: (_, context) => tools(services, context),
    },
    {
      name: 'compress',
      aliases: ['compact'],
      usage: '[TOPIC | here N]',
      summary: 'compact the conversation, or what is before your last N messages; --dry-run',
      scope: 'anyone',
      parameters: parameters({ topic: text('what to tell most about'), dryRun: { type: 'boolean' } }),
      run: ({ topic = '', dryRun }, context) => compress(context, topic as string, dryRun === true),
    },
    {
      name: 'retry',
      summary: 'send your last message again',
      scope: 'anyone',
      changes: ['send'],
      run: (_, context) => {
        const last = sessionOf(context)
          .entries()
          .findLast(
            (entry) => entry.type === 'message' && entry.message.role === 'user' && messageText(entry.message) !== '',
          )
        if (last?.type !== 'message') throw usageError('There is nothing to send again yet.')
        return { type: 'change', change: { type: 'send', text: messageText(last.message) } }
      },
    },
    {
      name: 'copy',
      usage: '[N]',
      summary: 'copy the last answer, or the Nth last, as the model wrote it',
      duringRun: 'allowed',
      changes: ['copy'],
      parameters: parameters({
        answer: { type: 'integer', minimum: 1, default: 1, description: 'how many answers ago' },
      }),
      run: ({ answer }, context) => copy(context, answer as number),
    },
    {
      name: 'undo',
      usage: '[N]',
      summary: 'take back your last message and what followed',
      scope: 'anyone',
      changes: ['shortened'],
      parameters: parameters({
        turns: { type: 'integer', minimum: 1, default: 1, description: 'a number of messages' },
      }),
      run: async ({ turns }, context) => {
        const undone = await sessionOf(context).undo({ turns: turns as number })
        if (!undone) return say('There is nothing to take back yet.')
        const from = clipped(undone.text)
        return [
          { type: 'change', change: { type: 'shortened' } },
          say(`Took back ${undone.messages} messages, from “${from}” on. Files stay: /rollback`),
        ]
      },
    },
    {
      name: 'plan',
      usage: '[TASK | accept | off]',
      summary: 'look and plan, change nothing; then accept',
      changes: ['send', 'resume'],
      parameters: parameters({ task: text('a task') }),
      run: ({ task = '' }, context) => plan(context, task as string),
    },
  ]
}

/** Without others to choose from it is only said. */
async function showModel(context: CommandContext): Promise<CommandOutput> {
  const session = sessionOf(context)
  const offered = await session.models()
  const now = `${session.model} at ${session.provider}.`
  if (offered.every((id) => id === session.model)) return say(now)
  const isNow = (id: string) => id === session.model
  // First, so that Enter alone changes nothing.
  const options = offered
    .toSorted((one, other) => Number(isNow(other)) - Number(isNow(one)))
    .map((id) => ({ label: isNow(id) ? `${id} (now)` : id, line: `/model ${id}` }))
  return { type: 'choice', question: `${now} Which model instead?`, options }
}

function copy(context: CommandContext, ago: number): CommandOutput {
  const answers = sessionOf(context)
    .entries()
    .flatMap((entry) =>
      entry.type === 'message' && entry.message.role === 'assistant' ? [messageText(entry.message)] : [],
    )
    .filter((answer) => answer.trim() !== '')
  const text = answers.at(-ago)
  if (text === undefined) throw usageError(`There are ${answers.length} answers so far.`)
  return { type: 'change', change: { type: 'copy', text } }
}

async function reasoning(
  session: CommandSession,
  effort: ReasoningEffort | 'default' | undefined,
): Promise<CommandOutput> {
  if (effort !== undefined) await session.setReasoningEffort(effort === 'default' ? null : effort)
  const now = session.reasoningEffort
  const from = effort === undefined ? '' : ' from the next request on'
  return say(
    now
      ? `${session.model} thinks with ${now} effort${from}.`
      : `${session.model} thinks as its provider has it${from}.`,
  )
}

const TIERS = { on: 'fast', off: 'standard', flex: 'flex', fast: 'fast', normal: 'standard', status: null } as const

const AT_TIER = {
  standard: 'as usual',
  fast: 'sooner, at a higher price',
  flex: 'when there is room, at a lower price',
}

async function fast(session: CommandSession, word: keyof typeof TIERS | undefined): Promise<CommandOutput> {
  const chosen = word === undefined ? null : TIERS[word]
  if (chosen !== null) await session.setServiceTier(chosen)
  const now = session.serviceTier ?? 'standard'
  const text = `${session.provider} is asked for answers ${AT_TIER[now]}${chosen === null ? '' : ', from the next request on'}.`
  if (now === 'standard') return say(text)
  return say(
    `${text} Where it sells none so, they come as usual; where it does not say what one cost, /usage has no price of it.`,
  )
}

function showThoughts({ caller }: CommandContext, shown: boolean): CommandOutput {
  if (caller.changes.includes('thoughts')) return { type: 'change', change: { type: 'thoughts', shown } }
  return say('What the model thinks always goes out here; the program that you use shows or hides it.')
}

async function changeModel(
  context: CommandContext,
  change: { readonly model: string; readonly provider?: string; readonly force: boolean },
): Promise<CommandOutput> {
  const session = sessionOf(context)
  await session.changeModel(change).catch((error: unknown) => {
    if (!HermesError.isInstance(error) || error.code !== 'runtime.model_not_listed') throw error
    const words = [change.model, ...(change.provider === undefined ? [] : [change.provider])].join(' ')
    throw usageError(`${error.message} /model ${words} --force asks for it all the same.`)
  })
  const at = change.provider === undefined ? '' : ` at ${session.provider}`
  return say(`Now ${session.model}${at} answers, in the same shell.`)
}

/** Toolsets are for who sets a home up: without a session. */
async function tools({ tools: all, toolsets }: SessionServices, { session }: CommandContext): Promise<CommandResult> {
  const rows = (await all()).map(({ name, toolset, description, isEnabled, isAvailable, requires }) => {
    const needs = requires.length > 0 ? `, needs ${requires.join(', ')}` : ''
    const mark = isAvailable ? (isEnabled ? 'on' : 'off') : `not here${needs}`
    return { cells: [name, toolset, mark, firstSentence(description)], isDim: !isAvailable || !isEnabled }
  })
  const table: CommandOutput = { type: 'table', rows, empty: 'There are no tools.' }
  if (session) return table
  const sets = Object.entries(toolsets()).map(([name, { tools: members }]) => ({ cells: [name, members.join(', ')] }))
  return [
    table,
    say('Toolsets (hermes tools enable NAME, or -t):'),
    { type: 'table', rows: sets, empty: 'There are none.' },
  ]
}

function firstSentence(description: string): string {
  return /^.*?[.:](?=\s|$)/s.exec(description)?.[0].replace(/:$/, '.') ?? description
}

/** `here` or `here N`: all but the newest N messages of the person; other words are a topic. */
function compactChoice(topic: string): { readonly focus?: string; readonly keepTurns?: number } {
  if (topic === '') return {}
  const [, count = `${KEPT_TURNS}`] = /^here(?:\s+([1-9]\d{0,3}))?$/.exec(topic) ?? []
  return /^here(?:\s+[1-9]\d{0,3})?$/.test(topic) ? { keepTurns: Number(count) } : { focus: topic }
}

async function compress(context: CommandContext, topic: string, isDryRun: boolean): Promise<CommandOutput> {
  const session = sessionOf(context)
  const options = compactChoice(topic)
  if (isDryRun) {
    const planned = await session.planCompaction(options)
    return say(planned ? describePlan(planned, session.entries()) : 'There is nothing yet that could be left out.')
  }
  context.notice('Compacting the conversation …')
  const outcome = await session.compact({ ...options, signal: context.signal })
  if (outcome.type === 'unchanged') return say(outcome.reason)
  const { tokensBefore = 0, tokensAfter = 0 } = outcome.entry
  const how = outcome.isSummarized ? '' : ` No summary could be made: ${outcome.problem ?? 'no model answered'}.`
  return say(`${tokensBefore} tokens are now about ${tokensAfter}.${how} Everything is kept in the session.`)
}

async function plan(context: CommandContext, task: string): Promise<CommandResult> {
  const session = sessionOf(context)
  switch (task) {
    case 'accept':
      if (!(await session.endPlan('accept'))) return say('There is no plan to accept: /plan begins one.')
      return { type: 'change', change: { type: 'resume' } }
    case 'off':
      return say((await session.endPlan('leave')) ? 'Plan mode is off.' : 'Plan mode was not on.')
    default: {
      const isNew = await session.plan()
      if (task !== '') return { type: 'change', change: { type: 'send', text: task } }
      return say(isNew ? 'Plan mode is on: nothing is changed until you accept a plan.' : PLAN_HINT)
    }
  }
}

const ROLES: readonly (readonly [role: Message['role'], name: string])[] = [
  ['user', 'from you'],
  ['assistant', 'from Hermes'],
  ['tool', 'results'],
]

/** What a compaction would take out, for a person: how much, of whom, and its first and last words. */
function describePlan(plan: CompactPlan, entries: readonly Entry[]): string {
  const { messages, fromSeq, upToSeq, tokensBefore, tokensAfter } = plan
  const headline = `${messages} messages would become a summary: ${tokensBefore} tokens, then about ${tokensAfter}.`
  if (fromSeq === undefined || upToSeq === undefined) return headline
  const gone = entries.flatMap((entry) =>
    entry.type === 'message' && entry.seq >= fromSeq && entry.seq <= upToSeq ? [entry.message] : [],
  )
  const counts = ROLES.map(([role, name]) => [gone.filter((message) => message.role === role).length, name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
  const [first, last] = [gone[0], gone.at(-1)]
  return [
    `${headline} They are ${counts.join(', ')}.`,
    ...(first ? [`first: ${preview(first)}`] : []),
    ...(last ? [`last: ${preview(last)}`] : []),
    'The newest messages, your newest request and the open tasks stay as they are; what you said stays verbatim as far as it fits.',
  ].join('\n')
}

function preview(message: Message): string {
  const calls = toolCalls(message).map(({ name }) => name)
  const text = message.role === 'tool' ? `result of ${message.toolName}` : messageText(message).trim()
  return clipped([text, ...calls.map((name) => `calls ${name}`)].filter((part) => part !== '').join(', '))
}
