import { chmodSync, mkdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, normalize, relative } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { joinName, printableName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { PackWriter } from '../objects/pack-writer.js'
import type { Slices } from '../objects/slices.js'
import { createSlices } from '../objects/slices.js'
import type { Tree, TreeEntry } from '../objects/tree.js'
import { encodeTree, hashOf } from '../objects/tree.js'
import type { Checkpoint } from '../records/record.js'
import { findCheckpoint } from '../records/records.js'
import { entryAt } from '../scan/compare.js'
import { realPrefix } from '../scan/workspace-root.js'
import type { Workspace } from '../workspace.js'
import { keepState } from '../workspace.js'
import { applyChanges } from './apply-restore.js'
import { mergeText } from './merge-text.js'
import type { RestorePlan } from './plan-restore.js'
import { planRestore } from './plan-restore.js'

/** Which state to go back to, and how. */
export interface RestoreRequest {
  /** A number or a label. */
  readonly wanted: string
  /** Only these files, or folders with what is in them; absolute or from the workspace's root. Default: everything. */
  readonly paths?: readonly string[]
  /** Exactly the state of the checkpoint, edits of others included. Default `false`: those stay. */
  readonly force?: boolean
  /** Files that stay as they are, from the workspace's root, each with why. Default none. */
  readonly leave?: ReadonlyMap<string, string>
  /** The run that asks: what changed since its checkpoint counts as its own work. */
  readonly liveRunId?: string | undefined
  readonly sessionId?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a restore did. All paths from the root of the workspace. */
export interface RestoreReport {
  readonly target: Checkpoint
  /** The state before, to undo the restore; `null` when there was nothing to do. */
  readonly undo: Checkpoint | null
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Restored, and an edit made since was kept in them. */
  readonly merged: readonly string[]
  /** Other than in the checkpoint because somebody else changed them since; left as they are. */
  readonly edited: readonly string[]
  /** Left as they are, and why. */
  readonly conflicts: readonly { readonly path: string; readonly why: string }[]
  /** Gone, and in no checkpoint: too large, or excluded. */
  readonly unavailable: readonly string[]
}

const EDITED = 'it was edited since, or cannot be told from an edit'

/** Goes back to a checkpoint. */
export async function restoreWorkspace(workspace: Workspace, request: RestoreRequest): Promise<RestoreReport> {
  const { store } = workspace
  if (!store.exists()) findCheckpoint([], request.wanted)
  return store.exclusively((objects) => restore(workspace, objects, request), { signal: request.signal })
}

async function restore(workspace: Workspace, objects: ObjectStore, request: RestoreRequest): Promise<RestoreReport> {
  const { store, root, clock } = workspace
  const target = findCheckpoint(store.records.list(), request.wanted)
  const number = store.records.nextNumber()
  const atMs = clock.now()
  const now = await keepState(workspace, objects, request.signal)
  const paths = (request.paths ?? []).map((path) => insideRoot(root, path))
  for (const path of paths) requireKnown(objects, path, [target.tree, now.tree])
  const { plan, tree, left } = await decide(workspace, objects, { request, target, now: now.tree, paths })
  const isWhole = paths.length === 0 && now.rootMode !== target.rootMode
  const named = [...plan.conflicts.map((path) => ({ path, why: EDITED })), ...left]
  const { merged, edited, unavailable } = plan
  if (plan.changes.size === 0 && !isWhole)
    return { target, undo: null, restored: [], removed: [], merged, edited, conflicts: named, unavailable }
  // Written down before the first file is touched: after a kill each file is as before or as wanted, and both are known.
  const undo: Checkpoint = {
    number,
    atMs,
    kind: 'restore',
    label: null,
    reason: `before going back to checkpoint ${target.number}`,
    sessionId: request.sessionId ?? null,
    runId: null,
    undoFromSeq: null,
    ...now,
    after: { tree, atMs: clock.now(), nextNumber: number + 1 },
  }
  store.records.write(undo)
  mkdirSync(root, { recursive: true })
  const applied = await applyChanges(root, plan.changes, { store: objects, slices: createSlices(request.signal) })
  if (isWhole) chmodSync(root, target.rootMode)
  const { restored, removed, kept } = applied
  return { target, undo, restored, removed, merged, edited, conflicts: [...named, ...kept], unavailable }
}

interface Decision {
  readonly request: RestoreRequest
  readonly target: Checkpoint
  readonly now: string
  readonly paths: readonly string[]
}

async function decide(
  { store, limits }: Workspace,
  objects: ObjectStore,
  { request, target, now, paths }: Decision,
): Promise<{ readonly plan: RestorePlan; readonly tree: string; readonly left: RestoreReport['conflicts'] }> {
  const writer = objects.writer(limits.maxTotalBytes)
  try {
    const slices = createSlices(request.signal)
    const whole = await planRestore({
      store: objects,
      writer,
      target,
      records: store.records.list(),
      now,
      paths,
      force: request.force ?? false,
      liveRunId: request.liveRunId ?? null,
      merge: mergeText,
      slices,
    })
    const { leave = new Map<string, string>() } = request
    const plan = { ...whole, changes: new Map([...whole.changes].filter(([path]) => !leave.has(path))) }
    const left = [...leave].filter(([path]) => whole.changes.has(path)).map(([path, why]) => ({ path, why }))
    const wanted = new Map([...plan.changes].map(([path, { to }]) => [path, to ?? null]))
    const tree = await overlay({ store: objects, writer, slices }, now, wanted)
    if (await writer.finish(slices)) objects.reload()
    return { plan, tree, left }
  } catch (error) {
    await writer.discard()
    throw error
  }
}

/** @throws HermesError `checkpoint.outside` */
export function insideRoot(root: string, path: string): string {
  const inside = (isAbsolute(path) ? fromRoot(root, normalize(path)) : normalize(path)).replace(/\/+$/, '')
  if (inside !== '' && inside !== '.' && inside !== '..' && !inside.startsWith('../')) return inside
  throw new HermesError(`${printableName(path)} is not a file or folder inside ${root}.`, {
    code: 'checkpoint.outside',
    details: { path },
  })
}

/** What is asked for may be a link itself, so links are followed in the folders above it only. */
function fromRoot(root: string, path: string): string {
  const plain = relative(root, path)
  return plain.startsWith('..') ? relative(root, `${realPrefix(dirname(path))}/${basename(path)}`) : plain
}

function requireKnown(objects: ObjectStore, path: string, trees: readonly string[]): void {
  if (trees.some((tree) => entryAt(objects, tree, path))) return
  throw new HermesError(`${printableName(path)} is neither in this checkpoint nor there now.`, {
    code: 'checkpoint.no_such_path',
    details: { path },
  })
}

/** What shall be at a path; `null` for nothing. */
type Wanted = ReadonlyMap<string, TreeEntry | null>

const FOLDER_MODE = 0o755

/** The tree that `tree` becomes with `wanted` in it; new folders go to the writer. A folder goes only when nothing is left in it. */
async function overlay(
  { store, writer, slices }: Pick<Overlay, 'store' | 'writer' | 'slices'>,
  tree: string,
  wanted: Wanted,
): Promise<string> {
  const on = { store, writer, slices, wanted, below: childrenOf(wanted) }
  return (await rebuild(on, '', store.readTree(tree))).hash
}

interface Overlay {
  readonly store: ObjectStore
  readonly writer: PackWriter
  readonly slices: Slices
  readonly wanted: Wanted
  /** For each folder the names in it that are wanted, or that lead to something wanted. */
  readonly below: ReadonlyMap<string, ReadonlySet<string>>
}

function childrenOf(wanted: Wanted): ReadonlyMap<string, ReadonlySet<string>> {
  const below = new Map<string, Set<string>>()
  for (const path of wanted.keys()) {
    let folder = ''
    for (const name of path.split('/')) {
      const names = below.get(folder) ?? new Set()
      below.set(folder, names.add(name))
      folder = joinName(folder, name)
    }
  }
  return below
}

interface Rebuilt {
  readonly hash: string
  readonly isEmpty: boolean
}

async function rebuild(on: Overlay, folder: string, base: Tree): Promise<Rebuilt> {
  if (on.slices.isOver()) await on.slices.pause()
  const entries = new Map(base)
  for (const name of on.below.get(folder) ?? []) {
    const entry = await rebuildEntry(on, joinName(folder, name), base.get(name))
    if (entry) entries.set(name, entry)
    else entries.delete(name)
  }
  const bytes = encodeTree(entries)
  const hash = hashOf(bytes)
  if (!on.writer.has(hash) && !on.store.has(hash)) on.writer.add(hash, bytes)
  return { hash, isEmpty: entries.size === 0 }
}

async function rebuildEntry(on: Overlay, path: string, base: TreeEntry | undefined): Promise<TreeEntry | null> {
  const wanted = on.wanted.get(path)
  const staysFolder = wanted?.type === 'folder' || (!wanted && (on.below.has(path) || base?.type === 'folder'))
  if (!staysFolder) return wanted ?? null
  const inside = await rebuild(on, path, base?.type === 'folder' ? on.store.readTree(base.hash) : new Map())
  if (wanted === null && inside.isEmpty) return null
  if (wanted === undefined && base === undefined && inside.isEmpty) return null
  const mode = wanted?.type === 'folder' ? wanted.mode : base?.type === 'folder' ? base.mode : FOLDER_MODE
  return { type: 'folder', mode, hash: inside.hash }
}
