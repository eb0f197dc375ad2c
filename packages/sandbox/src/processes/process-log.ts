import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs'
import { withoutCutStart } from '../shell/output-collector.js'

const BUFFER_CHARS = 200_000
const MAX_BYTES_PER_CHAR = 4
const LIMIT_BYTES = 64 * 1024 * 1024

/** The newest 200,000 characters of a log; empty when it cannot be read. */
export function readLog(path: string): string {
  const bytes = readEnd(path, BUFFER_CHARS * MAX_BYTES_PER_CHAR)
  return bytes.toString('utf8').slice(-BUFFER_CHARS)
}

/** Cuts a log that has grown past 64 MiB down to what {@link readLog} shows. Its writers append, so they go on undisturbed. */
export function trimLog(path: string): void {
  try {
    if (statSync(path).size <= LIMIT_BYTES) return
    const kept = readEnd(path, BUFFER_CHARS * MAX_BYTES_PER_CHAR)
    truncateSync(path)
    appendFileSync(path, kept)
  } catch {
    // A log that is gone needs no trimming.
  }
}

function readEnd(path: string, maxBytes: number): Buffer {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch {
    return Buffer.alloc(0)
  }
  try {
    const size = fstatSync(descriptor).size
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length)
    const kept = bytes.subarray(0, read)
    return size > maxBytes ? withoutCutStart(kept) : kept
  } finally {
    closeSync(descriptor)
  }
}
