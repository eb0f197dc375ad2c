import { stat } from 'node:fs/promises'

/** Whether nothing is at `path`. What cannot be looked at may be there. */
export function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  )
}
