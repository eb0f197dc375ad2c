// Whether the accounts of chat platforms work: asked once, heard by nobody.
import { loadConfig, loadSecrets } from '@hermes/config'
import { errorLine, silentLogger, systemClock } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import type { OwnPlatform } from '@hermes/runtime'
import { gatewayStates } from '../gateway-state.js'
import { type ConfiguredPlatform, configuredPlatforms, withinTime } from './open-platforms.js'
import { hearing } from './platform-health.js'

/** Options of {@link checkPlatforms}. */
export interface CheckOptions {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** The platforms that extensions bring. */
  readonly own: readonly OwnPlatform[]
  /** Reaches one server and nothing else. */
  readonly fetchTo: (address: string) => typeof fetch
  /** Nothing is asked. */
  readonly isOffline: boolean
}

/** What `hermes doctor` says of the chat platforms of a home; nothing where none has an account. Never rejects for what a platform says. */
export async function checkPlatforms({
  home,
  env,
  own,
  fetchTo,
  isOffline,
}: CheckOptions): Promise<readonly Finding[]> {
  const [{ config }, { values }] = await Promise.all([loadConfig({ home, env }), loadSecrets({ home, env })])
  const found = configuredPlatforms(config, values, own).map(async (one) => [
    await checkPlatform(one, { fetchTo, isOffline }),
    ...one.warnings.map((text): Finding => ({ level: 'warn', text: `${one.name}: ${text}` })),
  ])
  return [...(await Promise.all(found)).flat(), ...(await troubles(home))]
}

/** What gateways that run have to say: here a platform may answer that they wait for. */
async function troubles(home: string): Promise<readonly Finding[]> {
  const states = await gatewayStates(home, systemClock.now())
  return states.flatMap(({ pid, platforms, updatedAtMs }) =>
    platforms.flatMap((report): readonly Finding[] => {
      const { hears, text } = hearing(report, updatedAtMs)
      if (hears && report.sending?.type !== 'broken') return []
      return [{ level: 'warn', text: `${report.name}, in the gateway (process ${pid}): ${text}` }]
    }),
  )
}

/** Whether one answers, and whom it speaks as. Never rejects. */
export async function checkPlatform(
  one: ConfiguredPlatform,
  { fetchTo, isOffline = false }: { readonly fetchTo: (address: string) => typeof fetch; readonly isOffline?: boolean },
): Promise<Finding> {
  const keeper = { get: async () => null, set: async () => undefined }
  try {
    const platform = await one.create({ fetchTo, keeper, clock: systemClock, logger: silentLogger })
    if (isOffline) return { level: 'ok', text: `${one.name}: has an account; not asked` }
    return { level: 'ok', text: `${one.name}: answers as ${await withinTime(platform.probe(), systemClock)}` }
  } catch (error) {
    return { level: 'fail', text: `${one.name}: ${errorLine(error)}` }
  }
}
