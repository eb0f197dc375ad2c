import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { unwalledLine } from '../agree.js'
import type { HomePlugins } from '../open-plugins.js'
import { type PluginEntry, type PluginFault, readState } from '../state.js'

/** Sets every plugin up, and says what stands in its way. */
export async function pluginFindings({
  host,
  loaded,
  problems,
}: Pick<HomePlugins, 'host' | 'loaded' | 'problems'>): Promise<readonly Finding[]> {
  const faults = faultLines(await readState(host.stateFile))
  const looked = loaded.map(async ({ entry, process, leftOut }): Promise<readonly Finding[]> => {
    const { name, agreed } = entry
    const open = (agreed.unwalled ?? null) === null ? [] : [unwalledLine(agreed.unwalled!)]
    const notes = [...open, ...agreed.components.problems, ...(agreed.listing?.problems ?? [])].map(
      (text) => ({ level: 'warn', text: `${name}: ${text}` }) as const,
    )
    const earlier = process?.problem ?? null
    const why = leftOut()
    if (why !== null)
      return [{ level: 'fail', text: `Plugin ${name} is left out: ${why.replace(/\.$/, '')}.` }, ...notes]
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
  return [
    ...problems.map((text) => ({ level: 'fail', text }) as const),
    ...(await Promise.all(looked)).flat(),
    ...faults.map((text) => ({ level: 'warn', text }) as const),
  ]
}

/** What those that are enabled left uncaught or wanted beyond what they declared, in whichever process, a line each. */
export const faultLines = (entries: readonly PluginEntry[]): readonly string[] =>
  entries.flatMap(({ name, isEnabled, fault, wish }) => [
    ...(wish && isEnabled
      ? [
          `${name}: on ${minuteOf(wish)} UTC it wanted more than you agreed to, and was refused: ${wish.error.replace(/\.$/, '')}.`,
        ]
      : []),
    ...(fault && isEnabled
      ? [
          `${name}: on ${minuteOf(fault)} UTC it left an error uncaught and was off from then on in that process: ${fault.error.replace(/\.$/, '')}. Look for another version: hermes plugins update ${name}`,
        ]
      : []),
  ])

const minuteOf = ({ atMs }: PluginFault) => new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
