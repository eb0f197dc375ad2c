import type { Finding } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import { fail, ok, warn } from './finding.js'

/** Whether the terminal backend is ready that somebody chose, and which others could be chosen as they are. */
export async function terminalFindings(
  runtime: Runtime,
  options: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const backends = await runtime.terminalBackends(options)
  const listed = backends.filter(({ isChosen, isReady }) => isChosen || isReady)
  return listed.map(({ backend, isChosen, isReady, isWeak, text }) => {
    const name = `Terminal backend ${backend}${isChosen ? ' (chosen)' : ''}`
    if (isReady && isChosen && isWeak)
      return warn(
        `${name}: ready, but ${text}. Programs can read the variables Hermes was started with: keep keys with hermes auth add. To leave it so: hermes config set terminal.isolation off`,
      )
    if (isReady) return ok(`${name}: ready, ${text}`)
    const reason = text.replace(/\.$/, '')
    return fail(`${name}: not ready: ${reason}. Choose another with: hermes config set terminal.backend local`)
  })
}
