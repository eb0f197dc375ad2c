import { HermesError } from '@hermes/contracts'
import { UsageError } from '../errors.js'
import { createRecap } from '../render/recap.js'
import { clip } from '../render/style.js'
import { findSession } from '../session-choice.js'
import { branch, undo } from './branch-handlers.js'
import { checkpoint, rollback } from './checkpoint-handlers.js'
import { SLASH_COMMANDS, type SlashName } from './slash-commands.js'
import type { Talk } from './talk.js'

type Handler = (talk: Talk, args: string) => void | Promise<void>

const SHOWN_SESSIONS = 10
const SHOWN_MODELS = 30
const FORCE = '--force'

const KEYS = [
  ['Enter', 'send; during a run: queue for the next turn'],
  ['Alt-Enter', 'new line (also Ctrl-J, or \\ before Enter)'],
  ['Alt-S', 'send to the run under way'],
  ['Tab', 'complete commands and file names'],
  ['Ctrl-C', 'stop the run, clear the line; twice: leave'],
] as const

const HANDLERS: Readonly<Record<SlashName, Handler>> = {
  help,
  new: startAnew,
  resume,
  sessions,
  title,
  model,
  tools,
  compress,
  usage,
  stop: (talk) => (talk.isBusy ? talk.stop() : talk.say('Nothing is running.')),
  steer: (talk, args) => talk.steer(needed(args, '/steer TEXT')),
  queue: (talk, args) => talk.enqueue(needed(args, '/queue TEXT')),
  retry,
  undo,
  branch,
  checkpoint,
  rollback,
  approvals: async (talk, args) => (await import('./approval-handlers.js')).approvals(talk, args),
  plan: async (talk, args) => (await import('./plan-handler.js')).plan(talk, args),
  agents: async (talk, args) => (await import('./agents-handler.js')).agents(talk, args),
  yolo,
  exit: (talk) => talk.leave(),
}

/** Carries out a command of the table. Rejects with what the person did wrong. */
export async function runCommand(talk: Talk, name: SlashName, args: string): Promise<void> {
  await HANDLERS[name](talk, args)
}

function needed(args: string, usage: string): string {
  if (args === '') throw new UsageError(`It needs some text: ${usage}`)
  return args
}

function help({ output }: Talk): void {
  const rows = [
    ...SLASH_COMMANDS.map(({ name, args, summary }) => [`/${name} ${args}`.trim(), summary] as const),
    ...KEYS,
  ]
  const longest = Math.max(...rows.map(([usage]) => usage.length))
  const first = Math.min(longest, Math.floor(output.columns() / 3))
  const lines = rows.map(([usage, summary]) => clip(`  ${usage.padEnd(first)}  ${summary}`, output.columns()))
  output.write(`Type a task and press Enter.\n${lines.join('\n')}\n`)
}

async function startAnew(talk: Talk): Promise<void> {
  await talk.sit(null)
  talk.title = null
  talk.say('A new session.')
}

async function resume(talk: Talk, args: string): Promise<void> {
  const storage = await talk.runtime.storage()
  const session = await findSession(storage, needed(args, '/resume NAME; /sessions lists them'))
  await talk.sit(session)
  talk.title = null
  talk.output.write(createRecap(talk.seat.entries, talk.output))
  talk.say(`Now in ${session.title ?? session.id}, with ${talk.seat.model}.`)
}

async function sessions({ output, runtime, seat, style }: Talk): Promise<void> {
  const storage = await runtime.storage()
  const found = await storage.sessions.list({ limit: SHOWN_SESSIONS })
  if (found.length === 0) output.write('No sessions yet.\n')
  for (const { id, title: name, preview } of found) {
    const mark = id === seat.agent.sessionId ? '*' : ' '
    const what = clip(name ?? preview, Math.max(output.columns() - id.length - 5, 10))
    output.write(`${mark} ${style.bold(id)}  ${what}\n`)
  }
}

async function title(talk: Talk, args: string): Promise<void> {
  const storage = await talk.runtime.storage()
  const { sessionId } = talk.seat.agent
  const stored = await storage.sessions.get(sessionId)
  if (args === '') return talk.say(talk.title ?? stored?.title ?? 'This session has no title yet.')
  if (stored) await storage.sessions.update(sessionId, { title: args })
  else talk.title = args
  const kept = stored ? (await storage.sessions.get(sessionId))?.title : args
  talk.say(`This session is called ${kept}.`)
}

async function model(talk: Talk, args: string): Promise<void> {
  const { seat } = talk
  if (args === '') {
    const there = await seat.models()
    const others = there.length > 0 ? ` There: ${there.slice(0, SHOWN_MODELS).join(', ')}.` : ''
    return talk.say(`${seat.model} at ${seat.provider}.${others}`)
  }
  const words = args.split(/\s+/)
  const name = words.filter((word) => word !== FORCE).join(' ')
  if (name === '') throw new UsageError('It needs a name: /model NAME')
  await talk.changeModel({ model: name, force: words.includes(FORCE) }).catch((error: unknown) => {
    if (!HermesError.isInstance(error) || error.code !== 'runtime.model_not_listed') throw error
    throw new UsageError(`${error.message} /model ${name} ${FORCE} asks for it all the same.`)
  })
  talk.say(`Now ${talk.seat.model} answers, in the same shell.`)
}

async function tools({ runtime, output, style }: Talk): Promise<void> {
  for (const tool of await runtime.tools()) {
    const mark = !tool.isAvailable ? style.yellow('not here') : tool.isEnabled ? '' : style.dim('off')
    output.write(`  ${tool.name.padEnd(14)} ${style.dim(tool.toolset.padEnd(10))} ${mark}`.trimEnd().concat('\n'))
  }
}

const DRY_RUN = '--dry-run'
const KEPT_TURNS = 2

/** `here` or `here N`: all but the newest N messages of the person; other words are a topic. */
function compressOptions(words: readonly string[]): { readonly focus?: string; readonly keepTurns?: number } {
  const [first, count = `${KEPT_TURNS}`, ...more] = words
  if (first === undefined) return {}
  const isHere = first === 'here' && /^[1-9]\d{0,3}$/.test(count) && more.length === 0
  return isHere ? { keepTurns: Number(count) } : { focus: words.join(' ') }
}

async function compress(talk: Talk, args: string): Promise<void> {
  const { agent } = talk.seat
  const words = args.split(/\s+/).filter((word) => word !== '' && word !== DRY_RUN)
  const options = compressOptions(words)
  if (args.split(/\s+/).includes(DRY_RUN)) {
    const plan = await agent.planCompaction(options)
    if (!plan) return talk.say('There is nothing yet that could be left out.')
    const { describePlan } = await import('./compaction-plan.js')
    return talk.say(describePlan(plan, agent.entries(), talk.output.columns()))
  }
  talk.say('Compacting the conversation …')
  const outcome = await agent.compact(options)
  if (outcome.type === 'unchanged') return talk.say(outcome.reason)
  const { tokensBefore = 0, tokensAfter = 0 } = outcome.entry
  const how = outcome.isSummarized ? '' : ` No summary could be made: ${outcome.problem ?? 'no model answered'}.`
  talk.say(`${tokensBefore} tokens are now about ${tokensAfter}.${how} Everything is kept in the session.`)
}

async function usage(talk: Talk): Promise<void> {
  const { runtime, seat } = talk
  const storage = await runtime.storage()
  const { describeSpending } = await import('../usage/conversation-usage.js')
  const { sessionId } = seat.agent
  const { config } = runtime
  talk.say(await describeSpending({ storage, sessionId, config, limits: seat.limits(), nowMs: Date.now() }))
}

async function retry(talk: Talk): Promise<void> {
  if (talk.lastText === null) throw new UsageError('There is nothing to send again yet.')
  await talk.turn(talk.lastText)
}

function yolo(talk: Talk): void {
  if (talk.runtime.config.approvals.mode === 'off')
    throw new UsageError('approvals.mode is off in config.yaml: nothing is asked in any session.')
  talk.isYolo = !talk.isYolo
  talk.say(
    talk.isYolo
      ? 'YOLO is on: dangerous commands run without asking in this conversation. A hard floor stays.'
      : 'YOLO is off: dangerous commands are asked for again.',
  )
}
