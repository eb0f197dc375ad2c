export { type LockSeeker, seekLock, withLock } from './file-lock.js'
export { PendingFiles, type PendingKind } from './pending-files.js'
export { writePrivate } from './write-private.js'
