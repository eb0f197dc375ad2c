import type { ExtensionRegistry } from '@hermes/agent-core'
import type { HomeBrowser } from '@hermes/browser'
import type { HermesConfig } from '@hermes/config'
import { type Clock, HermesError } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import type { Action, Permit, Policy } from '@hermes/contracts/policy'
import type { Proxies } from '@hermes/safety'
import type { IsolationSupport } from '@hermes/sandbox'
import { defaultToolSettings, readDocument } from '@hermes/tools'
import { createWeb, type OwnProviders, type Web, type WebOptions, webDoctor } from '@hermes/web'
import { networkOf } from '../home/network-settings.js'
import type { HomePolicy } from '../policy/home-policy.js'

/** What the web gets of a home. */
interface HomeWebOptions {
  readonly config: HermesConfig
  readonly secrets: Readonly<Record<string, string>>
  readonly proxies: Proxies | null
  readonly permissions: Pick<HomePolicy, 'settings' | 'explain'>
  readonly extensions: () => Pick<ExtensionRegistry, 'list'>
  readonly isolationSupport: IsolationSupport
  readonly fetchTo: (address: string) => typeof fetch
  /** The browser of this home, once it is open. */
  readonly browser: () => Pick<HomeBrowser, 'render'>
  /** Who signed in at xAI. */
  readonly xaiLogin: WebOptions['xSearch']['login']
  readonly clock: Clock
}

/** Search and pages for a home. Nothing is loaded or asked before the first call. */
export function openHomeWeb(options: HomeWebOptions): Web {
  const { config, secrets, proxies, permissions, extensions, isolationSupport, fetchTo, browser, xaiLogin, clock } =
    options
  return createWeb({
    settings: config.web,
    variables: secrets,
    fetchTo,
    fetchPage: async (url, request) => {
      const { createPublicFetch } = await import('@hermes/safety/public-fetch')
      return createPublicFetch({ proxies, network: networkOf(config) })(url, request)
    },
    pdfText: async (bytes, signal) => {
      const document = await readDocument('pdf', bytes, { ...defaultToolSettings, isolationSupport, signal })
      if (document?.type !== 'oversized') return document
      throw new HermesError(`The PDF takes more than ${document.limit} to read.`, { code: 'web.unreadable' })
    },
    render: () => browser().render,
    own: () => ownProviders(extensions()),
    mayFetch: () => mayFetch(permissions),
    xSearch: {
      settings: { ...config.x_search, reasoning_effort: config.x_search.reasoning_effort ?? null },
      login: xaiLogin,
    },
    clock,
  })
}

/** What people see of the web beside its tools. */
export function webExtension(
  web: Web,
  { policy, user }: { readonly policy: Policy; readonly user: string },
): Extension {
  return {
    name: 'web',
    setup: (api) => void api.doctor.check(webDoctor(web, { permit: (action) => permitOf(action, policy, user) })),
  }
}

async function permitOf(action: Action, policy: Policy, user: string): Promise<Permit> {
  const subject = { sessionId: 'doctor', platform: 'cli', user, agentPath: ['root'], tainted: false } as const
  const decision = await policy.decide(action, { ...subject, origin: 'operator' }, { mayAsk: false })
  if (decision.type === 'allow') return decision.permit
  const reason = decision.type === 'deny' ? decision.reason : decision.question.summary
  throw new HermesError(reason, { code: 'policy.denied' })
}

/** An address that no rule names: what is said of it is said of all. */
const ANYWHERE = 'https://anywhere.invalid/'

async function mayFetch({ settings, explain }: HomeWebOptions['permissions']): Promise<boolean> {
  if (!settings.rules?.some(({ effect }) => effect === 'deny')) return true
  const subject = { sessionId: '', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  return (await explain({ type: 'fetch', url: ANYWHERE, method: 'GET' }, subject)).decision !== 'deny'
}

function ownProviders(extensions: Pick<ExtensionRegistry, 'list'>): OwnProviders {
  const factories = extensions.list('factory').map(({ item }) => item)
  const search = factories.flatMap((item) => (item.kind === 'web-search' ? [[item.name, item.create] as const] : []))
  const extract = factories.flatMap((item) => (item.kind === 'web-extract' ? [[item.name, item.create] as const] : []))
  return { search: Object.fromEntries(search), extract: Object.fromEntries(extract) }
}
