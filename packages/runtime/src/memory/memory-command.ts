// `/memory`: what is remembered, and what an agent wants to remember and waits for a yes.
import { HermesError } from '@hermes/contracts'
import type { CommandOutput, CommandResult, Extension } from '@hermes/contracts/extension'
import { describeNote, MEMORY_TARGETS, type StagedNotes } from '@hermes/memory'
import type { HomeMemory } from './home-memory.js'

const VERBS = ['list', 'pending', 'approve', 'reject', 'diff'] as const

/** What the command works on. */
interface MemoryCommandParts {
  /** Of a person, `null` for the owner; `null` where config.yaml switches memory off. */
  readonly memoryOf: (person: string | null) => HomeMemory | null
  readonly staged: StagedNotes
}

/** Adds `/memory`. */
export function memoryCommand(parts: MemoryCommandParts): Extension {
  return {
    name: 'memory-command',
    setup(api) {
      api.commands.add({
        name: 'memory',
        summary: 'what is remembered across sessions, and what waits for your yes',
        usage: '[list | pending | approve|reject|diff ID…]',
        duringRun: 'allowed',
        needsSession: false,
        parameters: {
          type: 'object',
          properties: {
            words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
          },
        },
        complete: async (words) => (words.length === 0 ? VERBS : (await parts.staged.list()).map(({ id }) => id)),
        run: ({ words }) => run(words as readonly string[], parts),
      })
    },
  }
}

async function run([verb = 'list', ...words]: readonly string[], parts: MemoryCommandParts): Promise<CommandResult> {
  switch (verb) {
    case 'list':
      return list(parts)
    case 'pending':
      return pending(parts)
    case 'approve':
    case 'reject':
    case 'diff':
      return answer(verb, words, parts)
    default:
      throw usage(`There is no "memory ${verb.slice(0, 40)}". It can be ${VERBS.join(', ')}.`)
  }
}

async function list({ memoryOf, staged }: MemoryCommandParts): Promise<CommandResult> {
  const home = memoryOf(null)
  if (!home) return say('Memory is off: memory.memory_enabled in config.yaml.')
  const rows = await Promise.all(
    MEMORY_TARGETS.filter((target) => home.isOn(target)).map(async (target) => {
      const { entries } = await (await home.open(target)).read(target)
      return entries.map((entry) => ({ cells: [target, entry.replace(/\s+/g, ' ')] }))
    }),
  )
  const waiting = (await staged.list()).length
  const waits = waiting === 0 ? '' : ` What waits for your yes (${waiting}): /memory pending`
  const edit = say(`To change it: hermes memory edit, or tell the agent.${waits}`)
  return [{ type: 'table', rows: rows.flat(), empty: 'Nothing is remembered yet.' }, edit]
}

const NONE_WAITS = 'No note waits for you.'

async function pending({ staged }: MemoryCommandParts): Promise<CommandResult> {
  const rows = (await staged.list()).map((note) => ({
    cells: [note.id, note.person ?? 'you', describeNote(note).replace(/\s+/g, ' ').trim()],
    data: note,
  }))
  return { type: 'table', rows, empty: NONE_WAITS }
}

async function answer(
  verb: 'approve' | 'reject' | 'diff',
  words: readonly string[],
  { memoryOf, staged }: MemoryCommandParts,
): Promise<CommandResult> {
  if (words.length === 0) throw usage(`Use: /memory ${verb} ID…, or all. What waits: /memory pending`)
  const notes = await staged.named(words)
  if (notes.length === 0) return say(NONE_WAITS)
  const outputs: CommandOutput[] = []
  for (const note of notes) {
    const { id, target, changes, sessionId, person } = note
    const outside = note.taintedBy.length === 0 ? '' : `, after this was read: ${note.taintedBy.join(', ')}`
    if (verb === 'diff') {
      outputs.push(say(`${id}: of session ${sessionId}${outside}`))
      outputs.push({ type: 'text', format: 'diff', text: describeNote(note) })
      continue
    }
    if (verb === 'approve') {
      const memory = memoryOf(person)
      if (!memory) throw usage('Memory is off: memory.memory_enabled in config.yaml.')
      // The person has read it: it is not marked as unconfirmed.
      const outcome = await (await memory.open(target)).change(target, changes, sessionId)
      if (outcome.type === 'refused') {
        outputs.push({ type: 'text', text: `${id} was not kept and still waits: ${outcome.reason}`, isProblem: true })
        continue
      }
    }
    await staged.remove(id)
    outputs.push(
      say(`${verb === 'approve' ? 'Remembered' : 'Rejected'}: ${describeNote(note).split('\n').slice(1).join(' ')}`),
    )
  }
  return outputs
}

const say = (text: string): CommandOutput => ({ type: 'text', text })
const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })
