import { errorLine, HermesError } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import { fail } from './finding.js'

const CHECK_WITHIN_MS = 30_000

/** What the checks of extensions find, each with the name of its extension before it. */
export async function extensionFindings(
  { extensions }: Pick<Runtime, 'extensions'>,
  { isOffline }: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const checks = extensions.list('check').map(async ({ owner, item }) => {
    const signal = AbortSignal.timeout(CHECK_WITHIN_MS)
    try {
      const found = await Promise.race([item.run({ isOffline, signal }), late(signal)])
      return found.map(({ level, text }) => ({ level, text: `${owner}: ${text}` }))
    } catch (error) {
      return [fail(`${owner}: ${item.name} could not be looked at: ${errorLine(error)}`)]
    }
  })
  return (await Promise.all(checks)).flat()
}

function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const error = new HermesError('it took longer than 30 seconds.', { code: 'cli.check_timeout' })
    signal.addEventListener('abort', () => reject(error), { once: true })
  })
}
