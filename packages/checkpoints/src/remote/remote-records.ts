import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isGone } from '../objects/read-whole.js'

const DAY_MS = 86_400_000

/** A file as it was before the agent changed it. */
interface RemoteFile {
  /** Absolute, on the other machine. */
  readonly path: string
  /** What its bytes hash to; `null` for a file that was not there. */
  readonly blob: string | null
  /** It was kept after what git tracks, and may have been changed by a command between. Default `false`. */
  readonly isAfterGit?: boolean
}

/** What was kept before a run changed something on another machine. */
export interface RemoteRecord {
  /** Grows from 1 within a session. */
  readonly number: number
  /** Unix milliseconds. */
  readonly atMs: number
  /** One line: what was about to happen. */
  readonly reason: string
  readonly runId: string
  /** What git tracks there, as a commit of its repository; `null` where nothing was run, or there is no repository. */
  readonly git: { readonly root: string; readonly commit: string } | null
  readonly files: readonly RemoteFile[]
}

/** What is kept of one session's files on another machine, in the home: bytes and records, for their owner alone. */
export class RemoteRecords {
  readonly #folder: string

  constructor(directory: string, sessionId: string) {
    this.#folder = `${directory}/${sha(Buffer.from(sessionId)).slice(0, 16)}`
  }

  /** Oldest first. @throws HermesError `checkpoint.damaged` where the list cannot be read. */
  list(): readonly RemoteRecord[] {
    const file = `${this.#folder}/records.json`
    try {
      const records: unknown = JSON.parse(readFileSync(file, 'utf8'))
      if (Array.isArray(records)) return records as RemoteRecord[]
    } catch (error) {
      if (isGone(error)) return []
      if (!(error instanceof SyntaxError)) throw error
    }
    throw new HermesError(`The list of kept files is damaged: ${file}. Move it away, and a new one begins.`, {
      code: 'checkpoint.damaged',
      details: { file },
    })
  }

  /** Adds a record, or puts it in the place of the one with its number. */
  async write(record: RemoteRecord): Promise<void> {
    const others = this.list().filter(({ number }) => number !== record.number)
    await writePrivate(
      `${this.#folder}/records.json`,
      JSON.stringify([...others, record].sort((left, right) => left.number - right.number)),
    )
  }

  async keep(bytes: Uint8Array): Promise<string> {
    const name = sha(bytes)
    await writePrivate(`${this.#folder}/${name}`, bytes)
    return name
  }

  /** @throws HermesError `checkpoint.damaged` when it is missing. */
  read(blob: string): Uint8Array {
    try {
      return readFileSync(`${this.#folder}/${blob}`)
    } catch (error) {
      if (!isGone(error)) throw error
      throw new HermesError('What was kept of it is missing.', { code: 'checkpoint.damaged', details: { blob } })
    }
  }
}

/** Removes what is kept of sessions that changed nothing for so many days. */
export function pruneRemote(
  directory: string,
  { retentionDays, nowMs }: { retentionDays: number; nowMs: number },
): void {
  let names: readonly string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    if (isGone(error)) return
    throw error
  }
  for (const name of names) {
    const folder = `${directory}/${name}`
    if (statSync(folder).mtimeMs < nowMs - retentionDays * DAY_MS) rmSync(folder, { recursive: true, force: true })
  }
}

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
