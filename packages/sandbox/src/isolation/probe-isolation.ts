import { createIsolationSupport } from './isolation-support.js'

/** Why commands cannot be isolated on this machine, as a line; `null` when they can. */
export async function probeIsolation(): Promise<string | null> {
  return createIsolationSupport().why()
}
