import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { liveEntries, messageText } from '@hermes/contracts/conversation'
import type {
  Command,
  CommandContext,
  CommandOutput,
  CommandResult,
  CommandRow,
  Extension,
} from '@hermes/contracts/extension'
import type { Policy } from '@hermes/contracts/policy'
import type { SessionStore } from '@hermes/contracts/store'
import type { Checkpoint, Checkpoints } from '../index.js'

/** What the commands of this package need of a home. */
interface CheckpointServices {
  /** The checkpoints of the home; opened with the first call. */
  open(): Promise<{
    readonly checkpoints: Checkpoints
    /** The workspace of a folder; `null` for what is none, such as the person's home. */
    rootOf(folder: string): string | null
  }>
  storage(): Promise<Pick<SessionStore, 'log' | 'leases' | 'sessions'>>
  readonly policy: Pick<Policy, 'decide'>
  /** Where commands run, as config.yaml says. */
  readonly backend: string
}

/** What became of a path since a checkpoint. */
const MARKS = { added: '+', removed: '-', changed: '~' } as const
const SHOWN = 10
const SHOWN_PATHS = 40
const SHOWN_CHARS = 60

/** Adds `/checkpoint` and `/rollback`, which work without a session too. */
export function checkpointCommands(services: CheckpointServices): Extension {
  const commands: readonly Command[] = [
    {
      name: 'checkpoint',
      summary: 'keep the files as they are now',
      parameters: { type: 'object', properties: { name: { type: 'string', description: 'a name for it' } } },
      run: ({ name }, context) => checkpoint(services, name as string | undefined, context),
    },
    {
      name: 'rollback',
      usage: '[N [--all] [FILE] | diff N]',
      summary: 'list checkpoints; bring files and conversation back to one',
      needsSession: false,
      changes: ['shortened'],
      parameters: {
        type: 'object',
        properties: {
          all: { type: 'boolean' },
          words: { type: 'array', items: { type: 'string' }, default: [], description: 'a checkpoint and files' },
          limit: { type: 'integer', minimum: 1, default: SHOWN },
        },
      },
      complete: async (words, context) => {
        if (context.session !== null && services.backend !== 'local') return []
        const { checkpoints, root } = await workspace(services, context)
        return words.length === 0 ? ['diff', ...checkpoints.list(root).map(({ number }) => String(number))] : []
      },
      run: (args, context) => rollback(services, args as unknown as RollbackArguments, context),
    },
  ]
  return {
    name: 'checkpoint-commands',
    setup(api) {
      for (const command of commands) api.commands.add(command)
    },
  }
}

interface RollbackArguments {
  readonly words: readonly string[]
  readonly all?: boolean
  readonly limit: number
}

/** Keeps the files, and where the conversation is. */
async function checkpoint(
  services: CheckpointServices,
  name: string | undefined,
  context: CommandContext,
): Promise<CommandOutput> {
  const { checkpoints, root } = await workspace(services, context)
  const { id: sessionId } = context.session!
  const entries = await (await services.storage()).log.entries(sessionId)
  const taken = await checkpoints.take(root, {
    kind: 'manual',
    reason: 'asked for',
    label: name,
    sessionId,
    undoFromSeq: (entries.at(-1)?.seq ?? 0) + 1,
  })
  return say(`Checkpoint ${taken.number}${name === undefined ? '' : ` (${name})`}: ${taken.files} files of ${root}.`)
}

/** Lists; with a number or name brings files and conversation back; with files only those. */
async function rollback(
  services: CheckpointServices,
  { words: [first, ...rest], all = false, limit }: RollbackArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { checkpoints, root, cwd } = await workspace(services, context)
  if (first === undefined) return list(checkpoints.list(root).toReversed().slice(0, limit))
  if (first === 'diff')
    return diff(checkpoints, root, { wanted: rest[0], most: context.session ? SHOWN_PATHS : Number.POSITIVE_INFINITY })
  const target = checkpoints.list(root).findLast(({ number, label }) => String(number) === first || label === first)
  const paths = rest.map((path) => (path.startsWith('/') ? path : `${cwd}/${path}`))
  const sessionId = context.session?.id
  const report = await checkpoints.restore(await permit(services, root), root, {
    wanted: first,
    paths,
    force: all,
    ...(sessionId === undefined ? {} : { sessionId }),
  })
  const { reportLines } = await import('../index.js')
  const text = reportLines(report, `To replace those too, add --all to the same command.`).join('\n')
  const restored: CommandOutput = { type: 'text', text, isProblem: report.conflicts.length > 0 }
  if (!target || paths.length > 0) return [restored]
  const wentBack = [...report.restored, ...report.removed, ...report.merged].map((path) => join(root, path))
  return [restored, ...(await undoConversation(services, { ...target, wentBack }, context))]
}

/** A restore that the person asked for; the policy is asked all the same. */
async function permit({ policy }: CheckpointServices, root: string) {
  const subject = {
    platform: 'cli',
    sessionId: 'checkpoints',
    agentPath: ['root'],
    origin: 'operator',
    tainted: false,
  } as const
  const decision = await policy.decide({ type: 'write', path: root, operation: 'write', backend: 'local' }, subject)
  if (decision.type === 'allow') return decision.permit
  throw usageError(`Nothing was restored: ${decision.type === 'deny' ? decision.reason : decision.question.summary}`)
}

/** The conversation goes back to where it was: the one that is open here, or the one the checkpoint belongs to where none is. */
async function undoConversation(
  services: CheckpointServices,
  { sessionId, undoFromSeq, wentBack }: Checkpoint & { readonly wentBack: readonly string[] },
  { session }: CommandContext,
): Promise<readonly CommandOutput[]> {
  if (undoFromSeq === null || sessionId === null) return []
  if (!session) return undoStored(services, sessionId, undoFromSeq)
  if (sessionId !== session.id) return []
  const undone = await session.undo({ fromSeq: undoFromSeq, files: wentBack })
  if (!undone) return []
  return [
    { type: 'change', change: { type: 'shortened' } },
    say(`The conversation is back too, before ${quoted(undone.text)}.`),
  ]
}

/** What became of a conversation that is not open here. */
async function undoStored(
  services: CheckpointServices,
  id: string,
  fromSeq: number,
): Promise<readonly CommandOutput[]> {
  const { log, leases, sessions } = await services.storage()
  const stored = await sessions.get(id)
  const taken = liveEntries(await log.entries(id)).filter(({ seq, type }) => type === 'message' && seq >= fromSeq)
  if (!stored || taken.length === 0) return []
  const name = stored.title ?? id
  try {
    const lease = await leases.acquire(id, { owner: 'checkpoints' })
    await log.append(id, [{ type: 'undo', fromSeq }], { lease }).finally(() => lease.release())
  } catch (error) {
    if (!HermesError.isInstance(error) || error.code !== 'store.session_busy') throw error
    return [say(`The conversation ${name} is open elsewhere and stays as it is; /undo takes its turns back there.`)]
  }
  const spoken = taken.find((entry) => entry.type === 'message' && entry.message.role === 'user')
  const text = spoken?.type === 'message' ? messageText(spoken.message) : ''
  return [say(`The conversation ${name} is back too, before ${quoted(text)}. It goes on with: hermes -r ${id}`)]
}

function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return `“${line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS - 1)}…` : line}”`
}

function list(records: readonly Checkpoint[]): CommandOutput {
  return { type: 'table', rows: records.map(toRow), empty: 'There is no checkpoint of this folder yet.' }
}

function toRow(record: Checkpoint): CommandRow {
  const { number, label, atMs, reason, files } = record
  const when = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
  const what = label === null ? reason : `${label} – ${reason}`
  return { cells: [String(number), when, `${files} files`, what], data: record }
}

async function diff(
  checkpoints: Checkpoints,
  root: string,
  { wanted, most }: { readonly wanted: string | undefined; readonly most: number },
): Promise<CommandOutput> {
  if (wanted === undefined) throw usageError('It needs a checkpoint: /rollback diff N')
  const changes = await checkpoints.changes(root, wanted)
  if (changes.length === 0) return say('Nothing is different.')
  const { printableName } = await import('../index.js')
  const lines = changes.slice(0, most).map(({ path, change }) => `${MARKS[change]} ${printableName(path)}`)
  const more = changes.length - most
  return say([...lines, ...(more > 0 ? [`… ${more} more`] : [])].join('\n'))
}

async function workspace(services: CheckpointServices, { session, cwd: here }: CommandContext) {
  if (session !== null && services.backend !== 'local')
    throw usageError(
      `The files of this conversation are in the ${services.backend} environment. Ask the agent to restore them: it sees what was kept there.`,
    )
  const { checkpoints, rootOf } = await services.open()
  const cwd = session?.cwd ?? here
  const root = rootOf(cwd)
  if (root !== null) return { checkpoints, root, cwd }
  throw usageError(`No checkpoints are kept of ${cwd}: it is too much. Change into a project folder.`)
}

function say(text: string): CommandOutput {
  return { type: 'text', text }
}

function usageError(message: string): HermesError {
  return new HermesError(message, { code: 'command.usage' })
}
