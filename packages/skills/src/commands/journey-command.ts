// `/journey`, which is `/learn` too: what was learnt when, from what, and back again. `/refine`: a look back at this session, now.
import { HermesError, type JsonObject } from '@hermes/contracts'
import { taintsIn } from '@hermes/contracts/conversation'
import type { Command, CommandContext, CommandOutput, CommandResult } from '@hermes/contracts/extension'
import { lineDiff } from '../library/line-diff.js'
import type { SkillWriter } from '../library/skill-writer.js'
import type { SkillLibrary } from '../skill-library.js'

/** What the commands work on. */
interface JourneyParts {
  readonly library: SkillLibrary
  readonly writer: SkillWriter
}

const VERBS = ['list', 'show', 'undo'] as const

/** `/journey [list | show ID | undo ID]`. */
export function journeyCommand(parts: JourneyParts): Command {
  return {
    name: 'journey',
    aliases: ['learn'],
    summary: 'what was learnt when, and from what; undo takes it back',
    usage: '[list [WORDS] | show ID | undo ID]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: { words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') } },
    },
    complete: async (words) =>
      words.length === 0 ? VERBS : words.length === 1 ? (await timeline(parts)).map(({ id }) => id) : [],
    run: (args) => run(args['words'] as readonly string[], parts),
  }
}

async function run([verb = 'list', ...words]: readonly string[], parts: JourneyParts): Promise<CommandResult> {
  switch (verb) {
    case 'list':
      return list(words, parts)
    case 'show':
      return show(one(verb, words), parts)
    case 'undo':
      return undo(one(verb, words), parts)
    default:
      throw usage(`There is no "journey ${verb.slice(0, 40)}". It can be ${VERBS.join(', ')}.`)
  }
}

/** Something that was learnt, of whatever kind. */
interface Step {
  readonly id: string
  readonly atMs: number
  readonly kind: string
  readonly what: string
  readonly from: string
}

async function timeline({ library }: JourneyParts): Promise<readonly Step[]> {
  const [changes, others] = await Promise.all([library.history.list(), library.home.learnt.list()])
  const skills = changes.map(({ id, atMs, by, sessionId, what }) => {
    const from = sessionId === null ? by : `${by}, ${sessionId}`
    return { id, atMs, kind: 'skill', what, from }
  })
  return [...skills, ...others].toSorted((one, other) => one.atMs - other.atMs)
}

async function list(words: readonly string[], parts: JourneyParts): Promise<CommandResult> {
  const query = words.join(' ').toLowerCase()
  const rows = (await timeline(parts))
    .filter(({ what, from, kind }) => `${kind} ${what} ${from}`.toLowerCase().includes(query))
    .map((step) => ({
      cells: [
        step.id,
        new Date(step.atMs).toISOString().slice(0, 16).replace('T', ' '),
        step.kind,
        step.from,
        step.what,
      ],
      data: step,
    }))
  const table = { type: 'table', rows, empty: 'Nothing was learnt yet.' } as const
  const waiting = (await parts.writer.staged.list()).length
  if (waiting === 0) return table
  return [table, say(`${waiting} proposal${waiting === 1 ? ' waits' : 's wait'} for your yes: /skills pending`)]
}

async function show(id: string, { library }: JourneyParts): Promise<CommandResult> {
  const other = (await library.home.learnt.list()).find((item) => item.id === id)
  if (other) return say(`${other.what}\n(${other.kind}, from ${other.from})`)
  const { what, by, sessionId, before, after } = await library.history.named(id)
  const from = sessionId === null ? by : `${by}, session ${sessionId}`
  return [say(`${what}\n(${from})`), { type: 'text', format: 'diff', text: lineDiff(before ?? '', after ?? '') }]
}

async function undo(id: string, { library, writer }: JourneyParts): Promise<CommandResult> {
  const other = await library.home.learnt.undo(id)
  if (other !== null) return say(other)
  const change = await library.history.named(id)
  await writer.undo(change)
  return say(`Undone: ${change.what}`)
}

/** `/refine [FOCUS]`. */
export function refineCommand(parts: JourneyParts): Command {
  return {
    name: 'refine',
    summary: 'look back at this session for skills that are worth keeping or mending',
    usage: '[FOCUS]',
    parameters: {
      type: 'object',
      properties: { focus: { type: 'string', default: '', description: 'what to look at above all' } },
    },
    run: (args, context) => refine(args, context, parts),
  }
}

async function refine(
  args: JsonObject,
  context: CommandContext,
  { library, writer }: JourneyParts,
): Promise<CommandResult> {
  const { session, signal, cwd } = context
  if (session === null) throw usage('Use /refine in a session.')
  const { lookBack } = await import('../learning/look-back.js')
  const { addPitfalls } = await import('../learning/pitfalls.js')
  context.notice('Looking back …')
  const pitfalls = await addPitfalls(library, writer)
  const entries = session.entries()
  const taintedBy = [...new Set(entries.flatMap(taintsIn))]
  const past = { id: session.id, entries, taintedBy, focus: String(args['focus'] ?? ''), cwd }
  const proposed = await lookBack(past, {
    ...{ library, writer },
    ask: (request) => library.home.ask({ task: 'background_review', ...request }, { sessionId: session.id, signal }),
  })
  const learnt = pitfalls.map((line) => say(`Pitfall of the skill ${line}`))
  if (proposed.length === 0) return [...learnt, say('Nothing in this session is worth a skill.')]
  const waiting = (await writer.staged.list()).filter(({ id }) => proposed.includes(id))
  const rows = waiting.map(({ id, why, change }) => ({ cells: [id, `${change.action} ${change.name}`, why] }))
  return [
    ...learnt,
    { type: 'table', rows, empty: '' },
    say(`They wait for your yes: /skills diff ${proposed[0]}, /skills approve all`),
  ]
}

function one(verb: string, [word, ...more]: readonly string[]): string {
  if (word !== undefined && more.length === 0) return word
  throw usage(`Use: /journey ${verb} ID`)
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })
