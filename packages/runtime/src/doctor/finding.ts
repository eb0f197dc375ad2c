import { stat } from 'node:fs/promises'
import type { Finding } from '@hermes/contracts/extension'
import type { RuntimeOptions } from '../runtime.js'

/** The home that is looked at, and the environment it was opened in. */
export type DoctorHome = Pick<RuntimeOptions, 'home' | 'env'>

/** What is fine. */
export const ok = (text: string): Finding => ({ level: 'ok', text })
/** What works, but not as it should. */
export const warn = (text: string): Finding => ({ level: 'warn', text })
/** What does not work. */
export const fail = (text: string): Finding => ({ level: 'fail', text })

/** Whether nothing is at `path`. What cannot be looked at may be there. */
export function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  )
}
