export { type LockSeeker, seekLock, withLock } from './file-lock.js'
export { writePrivate } from './write-private.js'
