import type { Finding } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import { fail, ok, warn } from './finding.js'

/** Which terminal backends are ready. One that is not chosen may well be missing. */
export async function terminalFindings(
  runtime: Runtime,
  options: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const backends = await runtime.terminalBackends(options)
  return backends.map(({ backend, isChosen, isReady, isWeak, text }) => {
    const name = `Terminal backend ${backend}${isChosen ? ' (chosen)' : ''}`
    if (isReady && isChosen && isWeak)
      return warn(
        `${name}: ready, but ${text}. Programs can read the variables Hermes was started with: keep keys with hermes auth add. To leave it so: hermes config set terminal.isolation off`,
      )
    if (isReady) return ok(`${name}: ready, ${text}`)
    const reason = text.replace(/\.$/, '')
    return isChosen
      ? fail(`${name}: not ready: ${reason}. Choose another with: hermes config set terminal.backend local`)
      : ok(`${name}: not in use. What it still needs: ${reason}`)
  })
}
