import { defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { MemoryChange } from '../changes.js'
import { joinEntries } from '../entries.js'
import type { Memory, MemoryState } from '../memory.js'
import type { MemoryTarget } from '../memory-files.js'
import { orderIn } from '../objection.js'
import { describeUsage, shownEntries } from '../prompt-section.js'
import type { StagedNote } from '../staged-notes.js'
import type { RecallService } from './recall.js'

const change = {
  action: { type: 'string', enum: ['add', 'replace', 'remove', 'read'] },
  content: { type: 'string' },
  old_text: { type: 'string' },
} as const

const parameters = {
  type: 'object',
  properties: {
    target: { type: 'string', enum: ['memory', 'user'], default: 'memory' },
    ...change,
    content: { ...change.content, description: 'Whole entry' },
    old_text: { ...change.old_text, description: 'Words only that entry has' },
    operations: {
      type: 'array',
      items: { type: 'object', properties: change, required: ['action'] },
      'x-shown': {
        type: 'array',
        description: 'All or none; each has action, content, old_text',
        items: { type: 'object' },
      },
    },
  },
} as const

/** What the tools of this package need. */
export interface MemoryToolServices {
  /** Opened on first use; `null` where an agent is to remember nothing. */
  readonly memory: ((target: MemoryTarget) => Promise<Memory>) | null
  /** Keeps a note for a person to say yes to. Default: notes are written at once. */
  readonly stageNote?: ((note: Omit<StagedNote, 'id' | 'atMs' | 'person'>) => Promise<StagedNote>) | null
  /** The provider beside the stores; `null` where there is none. */
  readonly recall: RecallService | null
}

/** Lets the model keep what later sessions should know. */
export const createMemoryTool = ({ memory, stageNote = null }: Pick<MemoryToolServices, 'memory' | 'stageNote'>) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'memory',
    toolset: 'memory',
    description: `Remember across sessions: two small stores, shown as a session starts. memory: machine, projects, tools, what took effort to find out. user: who they are, preferences, corrections.
Save unasked what will matter later, above all what the user corrects or prefers; not what is easy to find again, one-off or secret. One fact each, not orders; over 80% full, merge or replace first.`,
    parameters,
    available: () => memory !== null,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '🧠',
    summarize: ({ action = 'change', target, content, old_text }) =>
      `${action} ${target}: ${content ?? old_text ?? ''}`.replace(/[:\s]+$/, ''),
    async execute(args, { sessionId, taintedBy = [] }) {
      if (!memory) return failure('Nothing can be remembered here: memory is switched off.')
      const { target } = args
      const store = await memory(target)
      const changes = toChanges(args)
      if (typeof changes === 'string') return failure(`${changes}\n${await inventory(await store.read(target))}`)
      if (changes.length === 0) return shown(await store.read(target))
      if (stageNote !== null) {
        const refusal = await store.refusalOf(target, changes)
        if (refusal) return failure(`${refusal.reason}\n${await inventory(refusal.state)}`)
        const { id } = await stageNote({ sessionId, taintedBy, target, changes })
        return `Not remembered yet: it waits for the user's yes as ${id} (memory.write_approval is on). They see it with /memory diff ${id} and answer with /memory approve ${id} or /memory reject ${id}.`
      }
      const outcome = await store.change(target, changes, sessionId, taintedBy)
      if (outcome.type === 'refused') return failure(`${outcome.reason}\n${await inventory(outcome.state)}`)
      const saved = taintedBy.length === 0 ? 'Saved; later sessions will see it.' : UNCONFIRMED
      const text = outcome.type === 'changed' ? saved : 'That is remembered already.'
      return { data: await toData(outcome.state), text: `${text} ${target} is ${describeUsage(outcome.state)}.` }
    },
  })

const UNCONFIRMED =
  'Saved; later sessions will see it. It is marked, as text from outside was read here, until the user confirms it: hermes memory confirm.'

type Args = FromSchema<typeof parameters>
type Operation = Pick<Args, 'action' | 'content' | 'old_text'>

/** The changes asked for; none for reading, a text for what cannot be understood. */
function toChanges(args: Args): readonly MemoryChange[] | string {
  const operations: readonly Operation[] = args.operations ?? [args]
  const changes: MemoryChange[] = []
  for (const { action, content = '', old_text: oldText = '' } of operations) {
    const order = action === 'add' || action === 'replace' ? orderIn(content) : null
    if (order !== null) return order
    switch (action) {
      case 'add':
        changes.push({ action, content })
        break
      case 'replace':
        changes.push({ action, oldText, content })
        break
      case 'remove':
        changes.push({ action, oldText })
        break
      case 'read':
        break
      case undefined:
        return 'Say what to do: action is one of add, replace, remove, read.'
      default:
        action satisfies never
    }
  }
  return changes
}

async function shown(state: MemoryState): Promise<ToolResult> {
  const isMarked = state.unconfirmed.length > 0
  const sources = [{ type: 'note', name: 'an unconfirmed note', isMarked } as const]
  return { data: await toData(state), text: await inventory(state), ...(isMarked ? { external: true, sources } : {}) }
}

async function inventory(state: MemoryState): Promise<string> {
  const usage = `${state.target} is ${describeUsage(state)}`
  const entries = await shownEntries(state.entries)
  return entries.length === 0 ? `${usage}; it is empty.` : `${usage}:\n${joinEntries(entries)}`
}

async function toData({ target, entries, chars, limit }: MemoryState) {
  return { target, entries: [...(await shownEntries(entries))], chars, limit }
}

function failure(text: string): ToolResult {
  return { isError: true, text }
}
