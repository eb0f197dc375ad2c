// Runs as the store has them: rows of small facts, so that any later process of the home knows what became of one.
import { createHash, randomBytes } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { MetaStore } from '@hermes/storage'
import type { KeptApproval, KeptQuestionText } from '../waiting.js'

const RUN = 'api.run:'
const BODY = 'api.run.body:'
const KEY = 'api.run.key:'
const MAX_RUNS = 1_000
const TIME_CHARS = 9
const KEEP_MS = 24 * 3_600_000

/** How a run is doing. */
type RunStatus =
  | 'started'
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_answer'
  | 'stopping'
  | 'completed'
  | 'failed'
  | 'cancelled'

/** One run. */
export interface StoredRun {
  readonly id: string
  /** `null` is the owner. */
  readonly person: string | null
  /** `null` before it has one. */
  readonly sessionId: string | null
  readonly model: string
  readonly status: RunStatus
  readonly createdAtMs: number
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** How many processes have begun it since it last came to rest. */
  readonly attempt: number
  /** The process that carries it out. */
  readonly owner: string
  readonly output: string | null
  readonly finishReason: string | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usage: { readonly input: number; readonly output: number } | null
  readonly approvals: readonly KeptApproval[]
  readonly question: KeptQuestionText | null
}

type KeyParts = readonly (string | null)[]

/** A run and what it was asked with. */
interface KnownKey {
  readonly id: string
  readonly fingerprint: string
}

/** A key that nobody had used as it was read. */
interface NewKey {
  readonly parts: KeyParts
  readonly fingerprint: string
  readonly was: string | null
}

const ENDED: ReadonlySet<RunStatus> = new Set<RunStatus>(['completed', 'failed', 'cancelled'])

export function hasEnded({ status }: Pick<StoredRun, 'status'>): boolean {
  return ENDED.has(status)
}

/** Ids sort by the time they were made. */
export function newRunId(nowMs: number): string {
  return `run_${nowMs.toString(36).padStart(TIME_CHARS, '0')}${randomBytes(8).toString('hex')}`
}

function begunAtMs(id: string): number {
  return Number.parseInt(id.slice('run_'.length, 'run_'.length + TIME_CHARS), 36)
}

/** The rows of runs. */
export class StoredRuns {
  readonly #meta: () => Promise<MetaStore>

  constructor(meta: () => Promise<MetaStore>) {
    this.#meta = meta
  }

  async get(id: string): Promise<StoredRun | null> {
    return read(await (await this.#meta()).get(RUN + id))
  }

  /** Newest first. */
  async list(): Promise<readonly StoredRun[]> {
    const rows = await (await this.#meta()).list(RUN)
    return rows.flatMap(({ value }) => read(value) ?? []).toReversed()
  }

  /** Those that are not over, the oldest first: what they were asked for is kept for so long. */
  async open(): Promise<readonly StoredRun[]> {
    const bodies = await (await this.#meta()).list(BODY)
    const runs = await Promise.all(bodies.map(({ key }) => this.get(key.slice(BODY.length))))
    return runs.filter((run) => run !== null && !hasEnded(run)) as readonly StoredRun[]
  }

  async save(run: StoredRun): Promise<void> {
    const meta = await this.#meta()
    await meta.set(RUN + run.id, JSON.stringify(run))
    // It is not begun again.
    if (hasEnded(run)) await meta.set(BODY + run.id, null)
  }

  /** Makes a run the caller's, with what is asked for from now on; `false` where another process has changed it since it was read. */
  async take(
    before: StoredRun,
    after: StoredRun,
    body?: { readonly was: string | null; readonly is: string },
  ): Promise<boolean> {
    const meta = await this.#meta()
    const isTaken = await meta.swap([
      { key: RUN + before.id, was: JSON.stringify(before), is: JSON.stringify(after) },
      ...(body ? [{ key: BODY + before.id, ...body }] : []),
    ])
    if (isTaken && hasEnded(after)) await meta.set(BODY + after.id, null)
    return isTaken
  }

  /**
   * Writes down a new run with what it was asked for, which is kept until it is over, and the key it was begun under, all in one step.
   * `false` where somebody has begun one under the key since that was read.
   */
  async begin(run: StoredRun, body: string, key?: NewKey): Promise<boolean> {
    const row = (name: string, is: string) => ({ key: name, was: null, is })
    const { id, createdAtMs: atMs } = run
    const of = key && {
      key: KEY + digest(key.parts),
      was: key.was,
      is: JSON.stringify({ id, fingerprint: key.fingerprint, atMs }),
    }
    return (await this.#meta()).swap([row(RUN + id, JSON.stringify(run)), row(BODY + id, body), ...(of ? [of] : [])])
  }

  async body(id: string): Promise<string | null> {
    return (await this.#meta()).get(BODY + id)
  }

  /** What is written of a key, and the run that it has begun within a day. */
  async ofKey(
    parts: KeyParts,
    nowMs: number,
  ): Promise<{ readonly was: string | null; readonly known: KnownKey | null }> {
    const was = await (await this.#meta()).get(KEY + digest(parts))
    const value = parsed(was)
    if (!value || typeof value['id'] !== 'string' || typeof value['fingerprint'] !== 'string')
      return { was, known: null }
    return { was, known: isOld(value['atMs'], nowMs) ? null : { id: value['id'], fingerprint: value['fingerprint'] } }
  }

  /** Forgets runs that ended a day ago, the oldest beyond a thousand, keys of a day, and what was asked for where no run came of it. */
  async prune(nowMs: number): Promise<void> {
    const meta = await this.#meta()
    const all = await this.list()
    for (const [index, { id, endedAtMs }] of all.filter(hasEnded).entries())
      if (index >= MAX_RUNS || isOld(endedAtMs ?? 0, nowMs)) await meta.set(RUN + id, null)
    const open = new Set(all.filter((run) => !hasEnded(run)).map(({ id }) => id))
    for (const { key } of await meta.list(BODY)) {
      const id = key.slice(BODY.length)
      // The run of a new one is about to be written.
      if (!open.has(id) && isOld(begunAtMs(id), nowMs)) await meta.set(key, null)
    }
    for (const { key, value } of await meta.list(KEY))
      if (isOld(parsed(value)?.['atMs'], nowMs)) await meta.set(key, null)
  }
}

/** Whether something is of more than a day ago, or nobody knows when. */
function isOld(atMs: unknown, nowMs: number): boolean {
  return !(typeof atMs === 'number' && nowMs - atMs <= KEEP_MS)
}

function digest(key: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('hex')
}

function read(text: string | null): StoredRun | null {
  const value = parsed(text)
  return value && typeof value['id'] === 'string' && typeof value['status'] === 'string'
    ? (value as unknown as StoredRun)
    : null
}

function parsed(text: string | null): JsonObject | null {
  try {
    const value = text === null ? null : JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
