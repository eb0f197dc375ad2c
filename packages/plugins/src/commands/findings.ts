import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { unwalledLine } from '../agree.js'
import type { LoadedPlugin } from '../open-plugins.js'

/** Sets every plugin up, and says what stands in its way. */
export async function pluginFindings(
  loaded: readonly LoadedPlugin[],
  problems: readonly string[],
): Promise<readonly Finding[]> {
  const looked = loaded.map(async ({ entry, process }): Promise<readonly Finding[]> => {
    const { name, agreed } = entry
    const open = (agreed.unwalled ?? null) === null ? [] : [unwalledLine(agreed.unwalled!)]
    const notes = [...open, ...agreed.components.problems, ...(agreed.listing?.problems ?? [])].map(
      (text) => ({ level: 'warn', text: `${name}: ${text}` }) as const,
    )
    const earlier = process?.problem ?? null
    try {
      await process?.listing()
    } catch (error) {
      return [{ level: 'fail', text: errorLine(error) }, ...notes]
    }
    return [
      earlier === null
        ? { level: 'ok', text: `${name} ${entry.version ?? ''}`.trim() }
        : { level: 'warn', text: `${name}: ${earlier}` },
      ...notes,
    ]
  })
  return [...problems.map((text) => ({ level: 'fail', text }) as const), ...(await Promise.all(looked)).flat()]
}
