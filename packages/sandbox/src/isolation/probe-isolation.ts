import { accessSync, closeSync, constants } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { findBubblewrap } from './find-bubblewrap.js'
import { NamespaceHolder } from './namespace-holder.js'

/** Why commands cannot be isolated on this machine, as a line; `null` when they can. */
export async function probeIsolation(): Promise<string | null> {
  if (process.platform === 'darwin') {
    try {
      accessSync('/usr/bin/sandbox-exec', constants.X_OK)
      return null
    } catch {
      return 'sandbox-exec is missing'
    }
  }
  const program = process.platform === 'linux' ? findBubblewrap() : null
  if (program === null) return 'bubblewrap (bwrap) is not installed'
  const holder = new NamespaceHolder(program)
  try {
    const { user, pid } = await holder.open()
    closeSync(user)
    closeSync(pid)
    return null
  } catch (error) {
    return HermesError.isInstance(error) ? error.message : String(error)
  } finally {
    await holder.close(false)
  }
}
