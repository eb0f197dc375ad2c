import { closeSync, openSync, readSync } from 'node:fs'
import { CREDENTIAL_HEAD_BYTES, holdsCredential } from '@hermes/safety/credentials'

/** Whether the first bytes of a file are those of keys; `false` for what cannot be read. */
export function beginsLikeKeys(path: string): boolean {
  const head = Buffer.alloc(CREDENTIAL_HEAD_BYTES)
  try {
    const file = openSync(path, 'r')
    try {
      return holdsCredential(head.toString('latin1', 0, readSync(file, head)))
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}
