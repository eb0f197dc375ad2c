import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Logger } from '@hermes/contracts'
import { errorLine, HermesError } from '@hermes/contracts'
import type { RemoteHost } from '../remote/remote-host.js'
import { runScript } from '../remote/run-script.js'
import { quote } from '../shell/command-text.js'
import type { LocalFile } from './local-folder.js'
import {
  hashOf,
  isGitPath,
  localFiles,
  PASSED_OVER,
  readLocal,
  removeLocal,
  statLocal,
  writeLocal,
} from './local-folder.js'

/** A folder that is to be the same here and over there. */
export interface SyncFolder {
  /** On this machine. Absolute; must exist. */
  readonly source: string
  /** Over there. Absolute; made when it is missing. */
  readonly target: string
  /** Nothing comes back. Default `false`. */
  readonly readOnly?: boolean
}

interface FolderSyncOptions {
  readonly host: Pick<RemoteHost, 'connect' | 'converse' | 'failure' | 'name'>
  readonly folders: readonly SyncFolder[]
  /** Where it is kept what both sides had last. */
  readonly stateDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/** What both sides had when they were the same last. */
interface Known extends Pick<LocalFile, 'sizeBytes' | 'modifiedMs'> {
  readonly hash: string
}

const PUSH_EVERY_MS = 5_000
const MAX_FILE_BYTES = 256 * 1024 * 1024
const MAX_FOLDER_BYTES = 2 * 1024 * 1024 * 1024
const REQUEST_BYTES = 16 * 1024 * 1024
const FETCH_AT_ONCE = 20
const PULL_PAUSES_MS = [2_000, 4_000, 8_000]

/**
 * Keeps folders the same on both sides: what changed here goes over before commands, what changed there comes back at the end. Told by
 * hashes. Where both changed, the file here stays, and the other one is put beside it as `NAME.sandbox`.
 */
export class FolderSync {
  readonly #options: FolderSyncOptions
  #pushedMs = Number.NEGATIVE_INFINITY

  constructor(options: FolderSyncOptions) {
    this.#options = options
  }

  /** Brings back what an earlier program left over there, then takes over what is here. @throws HermesError when that fails. */
  async begin(): Promise<void> {
    for (const { source } of this.#options.folders) await checkFolder(source)
    await this.#each((folder) => this.#pull(folder))
    await this.push()
  }

  /** Takes over what changed here, at most every five seconds. */
  async push(): Promise<void> {
    const { clock } = this.#options
    if (clock.now() - this.#pushedMs < PUSH_EVERY_MS) return
    await this.#each((folder) => this.#push(folder))
    this.#pushedMs = clock.now()
  }

  /** Brings back what changed there. Tried four times; what fails then stays over there and is told. */
  async finish(): Promise<void> {
    const { clock, logger } = this.#options
    for (const pauseMs of [...PULL_PAUSES_MS, null]) {
      try {
        return await this.#each((folder) => this.#pull(folder))
      } catch (error) {
        const isPassing = HermesError.isInstance(error) && error.retryable
        if (pauseMs !== null && isPassing) await clock.sleep(pauseMs)
        else return logger.warn('Changes over there did not come back.', { error: errorLine(error) })
      }
    }
  }

  async #each(work: (folder: SyncFolder) => Promise<void>): Promise<void> {
    for (const folder of this.#options.folders) await work(folder)
  }

  async #push(folder: SyncFolder): Promise<void> {
    const { host } = this.#options
    const { source, target } = folder
    const [known, files] = [this.#known(folder), await localFiles(source)]
    this.#checkSize(folder, files)
    const next = new Map(known)
    let batch: SentFile[] = []
    const send = async () => {
      if (batch.length > 0) await sendFiles(host, target, batch)
      batch = []
    }
    for (const [path, file] of files) {
      const before = known.get(path)
      if (before?.sizeBytes === file.sizeBytes && before.modifiedMs === file.modifiedMs) continue
      if (file.sizeBytes > MAX_FILE_BYTES) {
        this.#options.logger.warn('A file is too large to be taken over.', { source, path, bytes: file.sizeBytes })
        continue
      }
      const bytes = await readLocal(source, path)
      if (bytes === null) continue
      const hash = hashOf(bytes)
      next.set(path, { hash, sizeBytes: file.sizeBytes, modifiedMs: file.modifiedMs })
      if (before?.hash === hash) continue
      if (batch.reduce((sum, one) => sum + one.bytes.length, bytes.length) > REQUEST_BYTES) await send()
      batch.push({ path, bytes, isExecutable: file.isExecutable })
    }
    await send()
    const gone = [...known.keys()].filter((path) => !files.has(path))
    if (gone.length > 0) await removeRemote(host, target, gone)
    for (const path of gone) next.delete(path)
    if (known.size === 0 && files.size === 0) await sendFiles(host, target, [])
    this.#save(folder, next)
  }

  async #pull(folder: SyncFolder): Promise<void> {
    const { source, target, readOnly = false } = folder
    const remote = await remoteHashes(this.#options.host, target)
    const known = this.#known(folder)
    // Nothing is there at all: another sandbox than last time, not files that somebody removed.
    if (remote === null || (remote.size === 0 && known.size > 0)) return this.#save(folder, new Map())
    if (readOnly) return
    const next = new Map(known)
    // What git runs by itself is not taken from over there.
    const fresh = [...remote].filter(([path, hash]) => known.get(path)?.hash !== hash && !isGitPath(path))
    for (let at = 0; at < fresh.length; at += FETCH_AT_ONCE) {
      const part = new Map(fresh.slice(at, at + FETCH_AT_ONCE))
      for (const file of await fetchFiles(this.#options.host, target, [...part.keys()])) {
        if (hashOf(file.bytes) !== part.get(file.path)) continue
        const isTaken = await this.#take(folder, file, known.get(file.path)?.hash ?? null)
        const local = isTaken ? await statLocal(source, file.path) : null
        // Without a size and a time of its own it counts as changed here, and goes over.
        const { sizeBytes = -1, modifiedMs = -1 } = local ?? {}
        next.set(file.path, { hash: hashOf(file.bytes), sizeBytes, modifiedMs })
      }
    }
    for (const [path, { hash }] of known) {
      if (remote.has(path) || isGitPath(path)) continue
      const local = await readLocal(source, path)
      if (local !== null && hashOf(local) === hash) await removeLocal(source, path)
      next.delete(path)
    }
    this.#save(folder, next)
  }

  /** Puts a file from over there in its place here: `true`; or beside it when the one here changed too. */
  async #take({ source }: SyncFolder, file: SentFile, knownHash: string | null): Promise<boolean> {
    const local = await readLocal(source, file.path)
    const localHash = local && hashOf(local)
    if (localHash === hashOf(file.bytes)) return true
    const path = localHash === knownHash ? file.path : `${file.path}.sandbox`
    const isWritten = await writeLocal(source, path, file)
    if (isWritten && path === file.path) return true
    const why = isWritten
      ? 'A file changed on both sides; the other one is beside it.'
      : 'A file leads out of its folder.'
    this.#options.logger.warn(why, { source, path })
    return false
  }

  #checkSize({ source }: SyncFolder, files: ReadonlyMap<string, LocalFile>): void {
    const bytes = [...files.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    if (bytes <= MAX_FOLDER_BYTES) return
    throw new HermesError(`The folder ${source} is too large to be taken over; 2 GiB go.`, {
      code: 'environment.sync_too_large',
      details: { bytes, limitBytes: MAX_FOLDER_BYTES },
    })
  }

  #known(folder: SyncFolder): ReadonlyMap<string, Known> {
    try {
      return new Map(Object.entries(JSON.parse(readFileSync(this.#stateFile(folder), 'utf8')) as Record<string, Known>))
    } catch {
      return new Map()
    }
  }

  #save(folder: SyncFolder, known: ReadonlyMap<string, Known>): void {
    mkdirSync(this.#options.stateDir, { recursive: true, mode: 0o700 })
    const path = this.#stateFile(folder)
    writeFileSync(`${path}.tmp`, JSON.stringify(Object.fromEntries(known)), { mode: 0o600 })
    renameSync(`${path}.tmp`, path)
  }

  #stateFile({ source, target }: SyncFolder): string {
    const name = createHash('sha256')
      .update(JSON.stringify([this.#options.host.name, source, target]))
      .digest('hex')
    return join(this.#options.stateDir, `sync-${name.slice(0, 16)}.json`)
  }
}

async function checkFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return
  throw new HermesError(`The folder ${path}, which is to be kept in step, is not there.`, {
    code: 'environment.not_found',
    details: { path },
  })
}

type Way = Pick<RemoteHost, 'connect' | 'converse' | 'failure' | 'name'>

/** A file that goes over. */
interface SentFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

const PRUNE = PASSED_OVER.map((name) => `-name ${name}`).join(' -o ')

const LIST = `find . \\( ${PRUNE} \\) -prune -o -type f -exec sh -c '
if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi' sh {} +`

/** Hashes of the files below a folder there, by their path from it; `null` when there is no such folder. */
async function remoteHashes(way: Way, folder: string): Promise<ReadonlyMap<string, string> | null> {
  const script = `if [ -d ${quote(folder)} ]; then cd -- ${quote(folder)} && echo here && ${LIST}; else echo missing; fi`
  const [first, ...lines] = (await done(way, script)).toString('utf8').split('\n')
  if (first !== 'here') return null
  const found = lines.flatMap((line) => {
    const [, hash, path] = /^([0-9a-f]{64}) [ *]\.\/(.+)$/.exec(line) ?? []
    return hash && path ? [[path, hash] as const] : []
  })
  return new Map(found)
}

// The ends of a path in a line are no spaces, which the shell would drop.
/** Writes files below a folder there, each whole or not at all; the folder is made. */
async function sendFiles(way: Way, folder: string, files: readonly SentFile[]): Promise<void> {
  const list = Buffer.from(
    files.map(({ path, bytes, isExecutable }) => `${bytes.length} ${isExecutable ? 755 : 644} ./${path}/\n`).join(''),
  )
  // All of it first, so that a connection that ends early changes nothing.
  const size = list.length + files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const script = `all=$(mktemp "\${TMPDIR:-/tmp}/hermes-sync-XXXXXXXX") || exit 1
trap 'rm -f -- "$all" "$all.list"' EXIT
cat > "$all"
[ "$(($(wc -c < "$all")))" = ${size} ] || { echo HERMES:cut >&2; exit 1; }
mkdir -p -- ${quote(folder)} && cd -- ${quote(folder)} || exit 1
head -c ${list.length} < "$all" > "$all.list"
at=${list.length + 1}
while IFS=' ' read -r size mode path; do
  path=\${path%/}
  mkdir -p -- "\${path%/*}" && tail -c +$at < "$all" | head -c "$size" > "$path.hermes-sync" || exit 1
  chmod "$mode" "$path.hermes-sync" && mv -f -- "$path.hermes-sync" "$path" || exit 1
  at=$((at + size))
done < "$all.list"`
  await done(way, script, Buffer.concat([list, ...files.map(({ bytes }) => bytes)]))
}

/** Fetches files below a folder there; what is missing by now is left out. */
async function fetchFiles(way: Way, folder: string, paths: readonly string[]): Promise<readonly SentFile[]> {
  const mark = randomBytes(4).toString('hex')
  const script = `cd -- ${quote(folder)} || exit 1
while IFS= read -r path; do
  [ -f "./$path" ] && [ -r "./$path" ] || { echo "${mark} 0 -"; continue; }
  if [ -x "./$path" ]; then kind=x; else kind=f; fi
  size=$(($(wc -c < "./$path")))
  echo "${mark} $size $kind"; head -c "$size" < "./$path"
done`
  let rest = await done(way, script, Buffer.from(`${paths.join('\n')}\n`))
  return paths.flatMap((path) => {
    const end = rest.indexOf(10)
    const [, size, kind] =
      new RegExp(`^${mark} (\\d+) ([xf-])$`).exec(rest.toString('latin1', 0, Math.max(end, 0))) ?? []
    if (size === undefined) throw way.failure(null, 'a file came in part')
    const bytes = rest.subarray(end + 1, end + 1 + Number(size))
    rest = rest.subarray(end + 1 + Number(size))
    return kind === '-' ? [] : [{ path, bytes, isExecutable: kind === 'x' }]
  })
}

/** Removes files below a folder there; what is missing is fine. */
async function removeRemote(way: Way, folder: string, paths: readonly string[]): Promise<void> {
  const script = `cd -- ${quote(folder)} || exit 1
while IFS= read -r path; do rm -f -- "./$path"; done`
  await done(way, script, Buffer.from(`${paths.join('\n')}\n`))
}

async function done(way: Way, script: string, input?: Uint8Array): Promise<Buffer> {
  const { ok, stdout, stderr } = await runScript(way, script, input)
  if (ok) return stdout
  const text = stderr.trim().split('\n').at(-1) ?? ''
  throw new HermesError(
    `Files could not be brought to ${way.name} or back${text === '' ? '' : `: ${text.replace(/\.$/, '')}`}.`,
    {
      code: 'environment.sync_failed',
      retryable: stderr.includes('HERMES:cut'),
    },
  )
}
