import { isJsonObject, type JsonObject } from '@hermes/contracts'

/** One request to who rents out browsers. */
export interface CloudRequest {
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly body?: JsonObject
}

/** A session that was made. */
export interface CloudLease {
  readonly id: string
  /** Where its DevTools protocol is: `wss:`, or `https:` with `/json/version`. It is a secret: who has it has the browser. */
  readonly cdpUrl: string
  /** Whether it goes on where its connection ends. */
  readonly staysAlive: boolean
}

/** What a session is asked for. */
interface WantedSession {
  /** How long it may live at most, whatever becomes of us. */
  readonly seconds: number
  /** Whether it is to go on where its connection ends. */
  readonly staysAlive: boolean
  /** What it is found by in the list of those that run; for clouds that keep no {@link CloudVendor.marks} it has no meaning. */
  readonly mark: string
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** A browser elsewhere that is asked over HTTP. */
export interface RemoteService {
  readonly label: string
  readonly baseUrl: string
  /** For servers of one's own, and tests. */
  readonly urlVariable: string
  readonly keyVariable: string
  headers(key: string): Readonly<Record<string, string>>
  /** Ends a session. */
  release(id: string, variables: Readonly<Record<string, string | undefined>>): CloudRequest
  /** What it cost, as the answer to `release` says; `null` where it does not. */
  cost(answer: JsonObject): string | null
}

/** Who rents out browsers. */
export interface CloudVendor extends RemoteService {
  /** Whether only plans that are paid have sessions that go on where their connection ends; elsewhere each does. */
  readonly staysAliveIfPaid: boolean
  create(wanted: WantedSession): CloudRequest
  /** How those that run are listed, and the mark that one was made with; `null` for a cloud that keeps none. */
  readonly marks: { readonly running: CloudRequest; markOf(session: JsonObject): unknown } | null
  /** `null` for an answer that is no session. */
  lease(answer: JsonObject): Omit<CloudLease, 'staysAlive'> | null
}

/** What a mark is called among what a cloud keeps of a session. */
const MARK = 'hermes'
const markIn = (kept: unknown) => (isJsonObject(kept) ? kept[MARK] : undefined)

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

function leaseOf(id: unknown, cdpUrl: unknown): Omit<CloudLease, 'staysAlive'> | null {
  return textOf(id) !== '' && URL.canParse(textOf(cdpUrl)) ? { id: textOf(id), cdpUrl: textOf(cdpUrl) } : null
}

/** In the order in which they are taken where several have keys. */
export const CLOUDS = Object.freeze({
  /**
   * A session ends with its connection unless `keepAlive` is set, which plans without payment refuse (402). What it cost is not told.
   * @see https://docs.browserbase.com/reference/api/create-a-session (checked against @browserbasehq/sdk 2.21.0)
   */
  browserbase: {
    label: 'Browserbase',
    baseUrl: 'https://api.browserbase.com',
    urlVariable: 'BROWSERBASE_BASE_URL',
    keyVariable: 'BROWSERBASE_API_KEY',
    headers: (key) => ({ 'x-bb-api-key': key }),
    staysAliveIfPaid: true,
    create: ({ seconds, staysAlive, mark, variables }) => ({
      path: '/v1/sessions',
      method: 'POST',
      body: {
        ...projectOf(variables),
        timeout: Math.min(21_600, Math.max(60, seconds)),
        ...(staysAlive ? { keepAlive: true } : {}),
        userMetadata: { [MARK]: mark },
      },
    }),
    marks: {
      running: { path: '/v1/sessions?status=RUNNING', method: 'GET' },
      markOf: ({ userMetadata }) => markIn(userMetadata),
    },
    lease: ({ id, connectUrl }) => leaseOf(id, connectUrl),
    release: (id, variables) => ({
      path: `/v1/sessions/${encodeURIComponent(id)}`,
      method: 'POST',
      body: { ...projectOf(variables), status: 'REQUEST_RELEASE' },
    }),
    cost: () => null,
  },
  /**
   * A session goes on, connected or not, until it is stopped or its minutes are over.
   * @see https://docs.browser-use.com/cloud/browser (checked against browser-use-sdk 3.11.3, its third version)
   */
  'browser-use': {
    label: 'Browser Use',
    baseUrl: 'https://api.browser-use.com/api/v3',
    urlVariable: 'BROWSER_USE_BASE_URL',
    keyVariable: 'BROWSER_USE_API_KEY',
    headers: (key) => ({ 'x-browser-use-api-key': key }),
    staysAliveIfPaid: false,
    create: ({ seconds, mark }) => ({
      path: '/browsers',
      method: 'POST',
      body: { timeout: Math.min(240, Math.max(1, Math.ceil(seconds / 60))), metadata: { [MARK]: mark } },
    }),
    marks: {
      running: { path: '/browsers?filterBy=active&pageSize=100', method: 'GET' },
      markOf: ({ metadata }) => markIn(metadata),
    },
    lease: ({ id, cdpUrl }) => leaseOf(id, cdpUrl),
    release: (id) => ({ path: `/browsers/${encodeURIComponent(id)}`, method: 'PATCH', body: { action: 'stop' } }),
    cost: ({ browserCost: cost }) =>
      cost === undefined || cost === null || cost === '' ? null : `${String(cost)} USD`,
  },
  /**
   * A session goes on, connected or not, for `ttl` at most, and for `activityTtl` without anything done in it: it is asked for as much.
   * @see https://docs.firecrawl.dev/api-reference/endpoint/browser-create (checked against firecrawl 4.42.0)
   */
  firecrawl: {
    label: 'Firecrawl',
    baseUrl: 'https://api.firecrawl.dev',
    urlVariable: 'FIRECRAWL_API_URL',
    keyVariable: 'FIRECRAWL_API_KEY',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    staysAliveIfPaid: false,
    create: ({ seconds, variables }) => {
      const wanted = Number(variables['FIRECRAWL_BROWSER_TTL'])
      const ttl = Math.min(3_600, Math.max(30, wanted > 0 ? wanted : seconds))
      return { path: '/v2/browser', method: 'POST', body: { ttl, activityTtl: ttl } }
    },
    marks: null,
    lease: ({ id, cdpUrl }) => leaseOf(id, cdpUrl),
    release: (id) => ({ path: `/v2/browser/${encodeURIComponent(id)}`, method: 'DELETE' }),
    cost: ({ creditsBilled: credits }) => (typeof credits === 'number' ? `${credits} credits` : null),
  },
} as const satisfies Readonly<Record<string, CloudVendor>>)

export type CloudName = keyof typeof CLOUDS

export const CLOUD_NAMES = Object.keys(CLOUDS) as readonly CloudName[]

/** Browserbase takes the project of the key where none is named. */
function projectOf(variables: Readonly<Record<string, string | undefined>>): JsonObject {
  const id = (variables['BROWSERBASE_PROJECT_ID'] ?? '').trim()
  return id === '' ? {} : { projectId: id }
}

/**
 * Firefox behind an API of its own, on a machine of the person. A session is a user there, by a name that we choose: it is made with its first
 * tab. The API has nothing for money (no 402, no minutes, no cost) and nothing that keeps one alive but use: a tab that nothing was done in for
 * five minutes is closed, a user of half an hour forgotten. Too many tabs are a 429, what is gone a 404.
 * @see https://github.com/jo-inc/camofox-browser (checked against its openapi.json 1.8.16)
 */
export const CAMOFOX: RemoteService = Object.freeze({
  label: 'Camofox',
  baseUrl: 'http://127.0.0.1:9377',
  urlVariable: 'CAMOFOX_URL',
  keyVariable: 'CAMOFOX_API_KEY',
  headers: (key: string): Readonly<Record<string, string>> => (key === '' ? {} : { authorization: `Bearer ${key}` }),
  release(id: string): CloudRequest {
    const [user = '', tab] = id.split('/')
    return { path: tab === undefined ? `/sessions/${user}` : `/tabs/${tab}?userId=${user}`, method: 'DELETE' }
  },
  cost: () => null,
})

/** The name of what is released of Camofox: a user with all tabs, or one tab of a user who stays. */
export const camofoxId = (user: string, tab?: string): string =>
  [user, ...(tab === undefined ? [] : [tab])].map(encodeURIComponent).join('/')

/** Whose sessions have to be ended. */
export const SERVICES: Readonly<Record<CloudName | 'camofox', RemoteService>> = Object.freeze({
  ...CLOUDS,
  camofox: CAMOFOX,
})
