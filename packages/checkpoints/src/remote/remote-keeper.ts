import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import { mayChangeFiles, openUntrustedGit } from '@hermes/safety'
import { type RemoteRecord, RemoteRecords } from './remote-records.js'

const GIT_MS = 20_000
const REASON_CHARS = 100

/** Options of {@link RemoteKeeper}. */
interface RemoteKeeperOptions {
  /** Where it is kept, on this machine. Absolute. */
  readonly directory: string
  readonly sessionId: string
  /** Larger files are named, not kept. */
  readonly maxFileBytes: number
  readonly clock: Clock
  readonly logger: Logger
}

/** git there, which runs nothing that the repository names. `timeoutMs`: default that of the environment. */
function gitOf({ environment, permit, signal }: RemoteRun, timeoutMs?: number) {
  const limits = { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
  return openUntrustedGit({ environment, permit, limits })
}

/** The run in which something is about to happen on another machine. */
interface RemoteRun {
  readonly runId: string
  readonly environment: Environment
  readonly signal: AbortSignal
  permit(action: Action): Promise<Permit>
  /** Tells the person something. */
  notice(text: string): void
}

/** What a restore on another machine came to. Paths are absolute. */
interface RemoteReport {
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** The repository whose tracked files are as they were; `null` where none was kept. */
  readonly git: string | null
  readonly failed: readonly { readonly path: string; readonly why: string }[]
  /** What was there before, to come back to. */
  readonly undo: number
}

/**
 * Keeps files of another machine before a run changes them: those that file tools change, byte by byte in the home, and before the first
 * command of a run those that git tracks, as a commit of their own repository that no branch has. The rest cannot be kept, and the person
 * hears that before the first command. Never throws but for {@link RemoteKeeper.restore}.
 */
export class RemoteKeeper {
  readonly #options: RemoteKeeperOptions
  readonly #records: RemoteRecords
  readonly #runs = new Map<string, RemoteRecord>()
  readonly #notified = new Set<string>()
  /** Calls of one message may run at the same time; records are written one after the other. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: RemoteKeeperOptions) {
    this.#options = options
    this.#records = new RemoteRecords(options.directory, options.sessionId)
  }

  list(): readonly RemoteRecord[] {
    return this.#records.list()
  }

  /** Resolves once what `action` may change is kept, or cannot be. */
  before(action: Action, run: RemoteRun): Promise<void> {
    if (!mayChangeFiles(action)) return Promise.resolve()
    this.#last = this.#last.then(() => this.#before(action, run))
    return this.#last
  }

  async #before(action: Action, run: RemoteRun): Promise<void> {
    try {
      if (action.type === 'write') await this.#keepFile(action.path, action, run)
      else if (action.type === 'spawn') await this.#keepTracked(action, run)
    } catch (error) {
      if (run.signal.aborted) return
      const why = HermesError.isInstance(error) ? error.message : String(error)
      this.#options.logger.warn('Files of another machine could not be kept.', { error: why })
      this.#tell(run, `Before this change nothing could be kept: ${why}`)
    }
  }

  async #keepFile(path: string, action: Action, run: RemoteRun): Promise<void> {
    const record = await this.#recordOf(action, run)
    if (record.files.some((file) => file.path === path)) return
    const stat = await run.environment.stat(path)
    if (stat !== null && stat.type !== 'file') return
    const { maxFileBytes } = this.#options
    if (stat !== null && stat.sizeBytes > maxFileBytes)
      return this.#tell(
        run,
        `${path} is larger than ${maxFileBytes / 2 ** 20} MB: what changes in it cannot be rolled back.`,
      )
    const bytes = stat === null ? null : await run.environment.read(path)
    const blob = bytes === null ? null : await this.#records.keep(bytes)
    const late = record.git === null ? {} : { isAfterGit: true }
    await this.#write({ ...record, files: [...record.files, { path, blob, ...late }] })
  }

  /** Once in a run, before its first command that may change something. */
  async #keepTracked(action: Action & { readonly type: 'spawn' }, run: RemoteRun): Promise<void> {
    const record = await this.#recordOf(action, run)
    if (record.git !== null || this.#notified.has(`git:${run.runId}`)) return
    this.#notified.add(`git:${run.runId}`)
    const { backend } = run.environment
    const git = await this.#commitTracked(action.cwd, `${record.number}`, run)
    if (git) await this.#write({ ...record, git })
    this.#tell(
      run,
      git
        ? `Files that git tracks in ${git.root} (${backend}) are kept before commands change them, and files that file tools change. New files, what git ignores and the rest of that machine cannot be rolled back.`
        : `${action.cwd} (${backend}) is in no git repository that can be read: what commands change there cannot be rolled back. Files that file tools change are kept.`,
    )
  }

  /** The commit that has what git tracks now, kept under a name of ours; `null` without a repository. */
  async #commitTracked(cwd: string, name: string, run: RemoteRun): Promise<RemoteRecord['git']> {
    const plain = gitOf(run, GIT_MS)
    const git = async (words: string) => {
      const { exitCode, output } = await plain(cwd, `git ${words}`)
      return exitCode === 0 ? output.trim() : null
    }
    const root = await git('rev-parse --show-toplevel')
    if (root === null || !root.startsWith('/')) return null
    // Without changes there is nothing to make a commit of: it is the one that is checked out.
    const commit = (await git('stash create')) || (await git('rev-parse HEAD'))
    if (commit === null || !/^[\da-f]{40,64}$/.test(commit)) return null
    const ref = `refs/hermes/${this.#options.sessionId.replace(/[^\w-]/g, '-')}-${name}`
    return (await git(`update-ref ${ref} ${commit}`)) === null ? null : { root, commit }
  }

  /**
   * Brings files back to how they were before a run. What the person changed there since cannot be told apart and goes too; it is kept
   * first, as a record of its own. Files that a permit is refused for stay.
   * @throws HermesError `checkpoint.unknown`.
   */
  async restore(wanted: string, run: RemoteRun): Promise<RemoteReport> {
    const all = this.#records.list()
    const target = all.find(({ number }) => String(number) === wanted)
    if (!target)
      throw new HermesError(
        all.length === 0
          ? 'Nothing is kept of files there yet.'
          : `There is no checkpoint ${wanted} there. There are: ${all.map(({ number }) => number).join(', ')}.`,
        { code: 'checkpoint.unknown', details: { wanted } },
      )
    const since = all.filter(({ number }) => number >= target.number)
    const first = since.find(({ git }) => git !== null)
    const tracked = first?.git ?? null
    const files = new Map(
      since.toReversed().flatMap((record) =>
        record.files.map((file) => {
          // Of a file that git tracks, what the commit has is then the older one.
          const isLate = first !== undefined && (record.number > first.number || file.isAfterGit === true)
          return [file.path, { ...file, isLate }] as const
        }),
      ),
    )
    const undo = await this.#begin(`before going back to checkpoint ${wanted}`, `restore of ${run.runId}`)
    const { backend } = run.environment
    const report = { restored: [] as string[], removed: [] as string[], failed: [] as { path: string; why: string }[] }
    let git: string | null = null
    if (tracked) {
      const now = await this.#commitTracked(tracked.root, `${undo.number}`, run)
      if (now) await this.#write({ ...this.#current(undo), git: now })
      const command = `git restore --source=${tracked.commit} --worktree -- .`
      const { exitCode, output } = await gitOf(run)(tracked.root, command)
      if (exitCode === 0) git = tracked.root
      else report.failed.push({ path: tracked.root, why: output.trim().split('\n')[0] ?? 'git failed' })
    }
    for (const { path, blob, isLate } of files.values()) {
      try {
        if (isLate && git !== null && tracked && (await this.#isIn(tracked, path, run))) continue
        const now = await run.environment.read(path)
        const then = blob === null ? null : this.#records.read(blob)
        if (now === null ? then === null : then !== null && Buffer.from(now).equals(then)) continue
        const current = this.#current(undo)
        const late = current.git === null ? {} : { isAfterGit: true }
        const before = { path, blob: now && (await this.#records.keep(now)), ...late }
        await this.#write({ ...current, files: [...current.files, before] })
        if (then === null) {
          await run.environment.remove(await run.permit({ type: 'write', path, operation: 'remove', backend }), path)
          report.removed.push(path)
        } else {
          await run.environment.write(
            await run.permit({ type: 'write', path, operation: 'write', backend }),
            path,
            then,
          )
          report.restored.push(path)
        }
      } catch (error) {
        if (run.signal.aborted || !HermesError.isInstance(error)) throw error
        report.failed.push({ path, why: error.message })
      }
    }
    return { ...report, git, undo: undo.number }
  }

  /** Whether a commit has a file. */
  async #isIn({ root, commit }: NonNullable<RemoteRecord['git']>, path: string, run: RemoteRun): Promise<boolean> {
    if (!path.startsWith(`${root}/`)) return false
    const name = `${commit}:${path.slice(root.length + 1)}`
    const command = `git cat-file -e '${name.replaceAll("'", `'\\''`)}'`
    const { exitCode } = await gitOf(run, GIT_MS)(root, command)
    return exitCode === 0
  }

  async #recordOf(action: Action, { runId }: RemoteRun): Promise<RemoteRecord> {
    const what = action.type === 'spawn' ? action.command : action.type === 'write' ? action.path : action.type
    const line = `before: ${what.replace(/\s+/g, ' ').trim()}`
    return this.#runs.get(runId) ?? this.#begin(line.slice(0, REASON_CHARS), runId)
  }

  async #begin(reason: string, runId: string): Promise<RemoteRecord> {
    const number = (this.#records.list().at(-1)?.number ?? 0) + 1
    const record = { number, atMs: this.#options.clock.now(), reason, runId, git: null, files: [] }
    await this.#write(record)
    return record
  }

  #current({ runId, ...record }: RemoteRecord): RemoteRecord {
    return this.#runs.get(runId) ?? { runId, ...record }
  }

  #write(record: RemoteRecord): Promise<void> {
    this.#runs.set(record.runId, record)
    return this.#records.write(record)
  }

  #tell({ notice }: RemoteRun, text: string): void {
    if (this.#notified.has(text)) return
    this.#notified.add(text)
    notice(text)
  }
}
