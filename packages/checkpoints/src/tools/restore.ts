import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import { changesLifecycle, changesMakeRuns, LATER_FILES, surfaceOf } from '@hermes/safety'
import type { FromSchema } from 'json-schema-to-ts'
import type { Checkpoints } from '../checkpoints.js'
import type { Checkpoint } from '../records/record.js'
import type { RemoteKeeper } from '../remote/remote-keeper.js'
import { reportLines } from '../restore/report-lines.js'
import type { RestoreReport } from '../restore/restore-workspace.js'
import { insideRoot } from '../restore/restore-workspace.js'
import type { CheckpointsToolServices } from './tool-services.js'
import { workspaceOf } from './workspace-of.js'

const SHOWN = 20

const parameters = {
  type: 'object',
  properties: {
    checkpoint: { type: 'string', description: 'Number or name. Without it: lists what there is' },
    paths: { type: 'array', items: { type: 'string' }, description: 'Only these files or folders' },
    force: {
      type: 'boolean',
      default: false,
      description: 'Also undo edits that others made since; only when the user wants that',
    },
  },
} as const

type Args = FromSchema<typeof parameters>

/** Goes back to a kept state of the workspace. */
export const createRestoreTool = (services: CheckpointsToolServices) =>
  defineTool<Args>({
    name: 'restore',
    toolset: 'checkpoints',
    description:
      'Bring files back to a checkpoint. Takes back what you changed since and keeps edits of the user; what cannot be told apart is named and left. The state before is kept as a checkpoint too. The conversation stays.',
    parameters,
    concurrency: 'exclusive',
    icon: '⏪',
    summarize: ({ checkpoint, paths }) =>
      checkpoint ? `restore ${checkpoint}${paths?.length ? `: ${paths.join(', ')}` : ''}` : 'list checkpoints',
    execute: (args, context) => restore(services, args, context),
  })

async function restore(services: CheckpointsToolServices, args: Args, context: ToolContext): Promise<ToolResult> {
  const opened = await services.checkpoints()
  if (context.environment.backend !== 'local') {
    const keeper = await opened.remote()
    if (keeper) return restoreRemote(keeper, args, context)
  }
  const root = workspaceOf(context, opened)
  const { checkpoints } = opened
  if (!args.checkpoint) return list(checkpoints.list(root))
  const permit = await context.permit({ type: 'write', path: root, operation: 'write', backend: 'local' })
  const requested = {
    wanted: args.checkpoint,
    paths: (args.paths ?? []).map((path) => context.environment.resolve(path)),
  }
  const report = await checkpoints.restore(permit, root, {
    ...requested,
    leave: await unpermitted(checkpoints, root, requested, context),
    force: args.force,
    liveRunId: (await opened.runOf(context.sessionId))?.runId,
    sessionId: context.sessionId,
    signal: context.signal,
  })
  const lines = reportLines(report, 'To replace those too, the user has to want it: restore with force.')
  const talk = requested.paths.length === 0 ? conversationLine(report.target, context) : []
  return { data: toData(report), text: [...lines, ...talk].join('\n') }
}

/** A run cannot take back the conversation it answers in; the person can. */
function conversationLine({ number, sessionId, undoFromSeq }: Checkpoint, context: ToolContext): readonly string[] {
  if (undoFromSeq === null || sessionId !== context.sessionId) return []
  return [`Tell the user: the conversation stays as it is; /rollback ${number} brings it back to there too.`]
}

/** The same on another machine, where what file tools changed and what git tracks is kept. */
async function restoreRemote(keeper: RemoteKeeper, args: Args, context: ToolContext): Promise<ToolResult> {
  const { environment, signal, sessionId } = context
  const { backend } = environment
  if (!args.checkpoint) {
    const lines = keeper
      .list()
      .slice(-SHOWN)
      .toReversed()
      .map(({ number, atMs, reason }) => `${number}  ${new Date(atMs).toISOString()}  ${reason}`)
    return lines.length === 0 ? `Nothing is kept of files in the ${backend} environment yet.` : lines.join('\n')
  }
  if (args.paths?.length)
    return { text: `Single files cannot be restored in the ${backend} environment.`, isError: true }
  const permit = (action: Action) => context.permit(action)
  const run = { runId: `restore in ${sessionId}`, environment, signal, permit, notice: () => undefined }
  const { restored, removed, git, failed, undo } = await keeper.restore(args.checkpoint, run)
  const named = (word: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`${word}: ${paths.join(', ')}`])
  const lines = [
    `Back at checkpoint ${args.checkpoint}.`,
    ...(git === null ? [] : [`Files that git tracks in ${git} are as they were; new files are still there.`]),
    ...named('Restored', restored),
    ...named('Removed', removed),
    ...failed.map(({ path, why }) => `Left as it is: ${path} – ${why}`),
    `The state before is checkpoint ${undo}.`,
  ]
  return { text: lines.join('\n'), isError: failed.length > 0 }
}

function toData({ target, undo, restored, removed, merged, edited, conflicts, unavailable }: RestoreReport) {
  return {
    checkpoint: target.number,
    undo_checkpoint: undo?.number ?? null,
    restored: [...restored],
    removed: [...removed],
    merged: [...merged],
    edited: [...edited],
    conflicts: conflicts.map(({ path, why }) => ({ path, why })),
    unavailable: [...unavailable],
  }
}

function list(records: readonly Checkpoint[]): ToolResult {
  const newest = records.slice(-SHOWN).reverse()
  const lines = newest.map(({ number, label, atMs, reason }) => {
    return `${number}${label === null ? '' : ` (${label})`}  ${new Date(atMs).toISOString()}  ${reason}`
  })
  return {
    data: newest.map(({ number, label, atMs, reason }) => ({ number, name: label, at_ms: atMs, reason })),
    text: lines.length === 0 ? 'There is no checkpoint of this workspace yet.' : lines.join('\n'),
  }
}

/**
 * Asks, file by file, about what a restore would write of what runs or instructs later: an old `AGENTS.md` instructs as a new one does. Gives
 * the paths that are to be left as they are, from the root of the workspace, with why.
 */
async function unpermitted(
  checkpoints: Checkpoints,
  root: string,
  requested: { readonly wanted: string; readonly paths: readonly string[] },
  context: ToolContext,
): Promise<ReadonlyMap<string, string>> {
  const wanted = requested.paths.map((path) => insideRoot(root, path))
  const isWanted = (path: string) =>
    wanted.length === 0 || wanted.some((one) => path === one || path.startsWith(`${one}/`))
  const left = new Map<string, string>()
  const remembered = context.environment.rememberFiles?.(LATER_FILES)
  const nowAndThen = async (path: string): Promise<readonly [now: string, then: string]> => {
    const now = await readFile(join(root, path), 'utf8').catch(() => '')
    const then = await checkpoints.read(root, requested.wanted, path)
    return [now, then === null ? now : Buffer.from(then).toString('utf8')]
  }
  // What came since is removed, and instructs nobody then.
  const changes = await checkpoints.changes(root, requested.wanted, { signal: context.signal })
  for (const { path } of changes.filter(({ path, change }) => change !== 'added' && isWanted(path))) {
    // Names of folders above the workspace do not count, its own does.
    const isPlatform = surfaceOf(join(basename(root), path)) !== null
    const isManifest = basename(path) === 'package.json'
    const changes = isManifest ? changesLifecycle : remembered?.isNamed(join(root, path)) ? changesMakeRuns : null
    const runsLater = !isPlatform && changes !== null && changes(...(await nowAndThen(path)))
    if (!isPlatform && !runsLater) continue
    const action = { type: 'write', path: join(root, path), operation: 'write', backend: 'local' } as const
    try {
      await context.permit(runsLater ? { ...action, runsLater } : action)
    } catch (error) {
      if (!HermesError.isInstance(error) || error.code !== 'policy.denied') throw error
      left.set(path, 'it runs or instructs later, and writing it is not permitted')
    }
  }
  return left
}
