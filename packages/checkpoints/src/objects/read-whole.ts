import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A regular file and its permission bits, links not followed. `bytes` is `null` when it is larger than `maxBytes` or no file. */
export function readWhole(
  path: string | Buffer,
  maxBytes: number,
): { readonly bytes: Buffer | null; readonly mode: number } {
  const file = openSync(path, READ_FLAGS)
  try {
    const stats = fstatSync(file)
    const mode = stats.mode & 0o7777
    if (!stats.isFile() || stats.size > maxBytes) return { bytes: null, mode }
    const bytes = Buffer.allocUnsafeSlow(stats.size)
    let read = 0
    while (read < bytes.length) {
      const count = readSync(file, bytes, read, bytes.length - read, read)
      if (count === 0) break
      read += count
    }
    return { bytes: bytes.subarray(0, read), mode }
  } finally {
    closeSync(file)
  }
}

/** Whether an error says that there is nothing at a path any more. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** Whether an error says that something is there and cannot be read. */
export function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EIO', 'EBUSY', 'ENXIO', 'ESTALE'].includes((error as NodeJS.ErrnoException).code ?? '')
}
