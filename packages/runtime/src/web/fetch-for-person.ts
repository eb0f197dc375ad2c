import type { HermesConfig } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { Policy, Subject } from '@hermes/contracts/policy'
import type { Proxies } from '@hermes/safety'
import { networkOf } from '../home/network-settings.js'

/** What a person named, and who they are. */
export interface PersonFetch {
  /** Where it was named: `api`, `gateway` … */
  readonly platform: string
  /** `null` for the owner. */
  readonly user: string | null
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** See `fetchForPerson` of the runtime. */
export async function fetchForPerson(
  url: string,
  { platform, user, maxBytes, signal }: PersonFetch,
  home: { readonly config: HermesConfig; readonly proxies: Proxies | null; readonly policy: Policy },
): Promise<Uint8Array> {
  const subject: Subject = {
    ...{ sessionId: platform, platform, agentPath: ['root'], origin: 'operator', tainted: false },
    ...(user === null ? {} : { user }),
  }
  const { createPublicFetch } = await import('@hermes/safety/public-fetch')
  const get = createPublicFetch({ proxies: home.proxies, network: networkOf(home.config) })
  const { status, isCut, body } = await get(url, {
    ...{ maxBytes, signal },
    permit: async (action) => {
      const decision = await home.policy.decide(action, subject, { mayAsk: false })
      if (decision.type === 'allow') return decision.permit
      const reason = decision.type === 'deny' ? decision.reason : decision.question.summary
      throw new HermesError(reason, { code: 'policy.denied' })
    },
  })
  const failed = (why: string) => new HermesError(`${url} cannot be read: ${why}.`, { code: 'fetch.failed' })
  if (status < 200 || status > 299) throw failed(`the server answered ${status}`)
  if (isCut) throw failed(`it has more than ${Math.floor(maxBytes / 1_048_576)} MiB`)
  return body
}
