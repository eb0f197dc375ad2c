import type { Runtime } from '@hermes/runtime'
import { type Finding, fail, ok } from './finding.js'

/** Which terminal backends are ready. One that is not chosen may well be missing. */
export async function terminalFindings(
  runtime: Runtime,
  options: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const backends = await runtime.terminalBackends(options)
  return backends.map(({ backend, isChosen, isReady, text }) => {
    if (isReady) return ok(`Terminal backend ${backend}${isChosen ? ' (chosen)' : ''}: ready, ${text}`)
    const line = `Terminal backend ${backend}${isChosen ? ' (chosen)' : ''}: not ready: ${text.replace(/\.$/, '')}`
    return isChosen ? fail(`${line}. Choose another with: hermes config set terminal.backend local`) : ok(line)
  })
}
