// Files that came in: kept for a while, named by nobody but us, never more than a bound in all.
import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'

const KEEP_MS = 14 * 24 * 3_600_000
const MAX_BYTES = 2 * 1024 ** 3

/** Options of {@link createMediaCache}. */
interface MediaCacheOptions {
  readonly folder: string
  readonly clock: Clock
  /** All of it together. Default 2 GiB. */
  readonly maxBytes?: number
}

/** Files of people. */
interface MediaCache {
  /** Keeps a file; gives its absolute path. */
  keep(bytes: Uint8Array, name: string): Promise<string>
  /** Removes what is older than 14 days, and the oldest of what is too much. */
  prune(): Promise<void>
}

export function createMediaCache({ folder, clock, maxBytes = MAX_BYTES }: MediaCacheOptions): MediaCache {
  const prune = async () => {
    const names = await readdir(folder).catch((): string[] => [])
    const files = await Promise.all(
      names.map(async (name) => {
        const found = await stat(join(folder, name)).catch(() => null)
        return found?.isFile() ? [{ path: join(folder, name), size: found.size, atMs: found.mtimeMs }] : []
      }),
    )
    let room = maxBytes
    for (const { path, size, atMs } of files.flat().sort((one, other) => other.atMs - one.atMs)) {
      room -= size
      if (room < 0 || clock.now() - atMs > KEEP_MS) await rm(path, { force: true })
    }
  }
  return {
    prune,
    keep: async (bytes, name) => {
      const safe =
        name
          .replaceAll(/[^\w.-]+/g, '_')
          .replace(/^\.+/, '')
          .slice(-80) || 'file'
      const path = join(folder, `${randomUUID().slice(0, 8)}-${safe}`)
      await writePrivate(path, bytes)
      await prune()
      return path
    },
  }
}
