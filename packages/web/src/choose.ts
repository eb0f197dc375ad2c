import { nearestName } from '@hermes/contracts'
import type { WebSettings } from './settings.js'
import { serviceOf } from './vendor/vendors.js'

/** A service that may be asked. */
export interface Candidate {
  readonly name: string
  /** `null`: without one. */
  readonly key: string | null
  readonly baseUrl: string
}

/** Who is asked, in this order. */
export interface Choice {
  /** Somebody chose the one there is: nobody else is asked when it fails. */
  readonly isExplicit: boolean
  /** Of an extension, where `candidates` has none. */
  readonly own?: string
  readonly candidates: readonly Candidate[]
  /** Why there is nobody; `null` where there is. */
  readonly problem: string | null
}

/** What a choice is made from. */
interface ChoiceOptions {
  readonly settings: WebSettings
  /** Services that can do it, in their order. */
  readonly names: readonly string[]
  /** `.env` and the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Names that extensions have. */
  readonly own: readonly string[]
}

/** What names of other versions mean. */
const ALIASES: Readonly<Record<string, string>> = { 'brave-free': 'brave', brave_free: 'brave' }

/** Who searches. */
export function chooseSearch(options: ChoiceOptions): Choice {
  const { settings } = options
  const wanted = settings.search_backend || settings.backend
  return wanted === '' ? automatic(options) : explicit(wanted, 'web.search_backend', options)
}

/**
 * Who reads pages beside Hermes itself; with `isExplicit` in its place. A service that can only search, chosen for both, leaves pages to Hermes.
 */
export function chooseExtract(options: ChoiceOptions): Choice {
  const { settings, names } = options
  const wanted = settings.extract_backend || (nameOf(settings.backend, names) ? settings.backend : '')
  if (wanted !== '' && wanted !== 'local') return explicit(wanted, 'web.extract_backend', options)
  const keyed = wanted === 'local' ? [] : automatic(options).candidates.filter(({ key }) => key !== null)
  return { isExplicit: false, candidates: keyed, problem: null }
}

function nameOf(written: string, names: readonly string[]): string | undefined {
  const name = ALIASES[written] ?? written
  return names.includes(name) ? name : undefined
}

function explicit(written: string, path: string, { names, own, settings, variables }: ChoiceOptions): Choice {
  const name = nameOf(written, names)
  if (name === undefined && own.includes(written))
    return { isExplicit: true, own: written, candidates: [], problem: null }
  if (name === undefined) {
    const near = nearestName(written, [...names, ...own])
    const meant = near === null ? `one of ${names.join(', ')}` : near
    return none(`${path} of config.yaml names "${written}", which Hermes does not know; ${meant} may be meant.`)
  }
  const candidate =
    withKey(name, { settings, variables }) ??
    (settings.keyless_fallback || settings.provider_tier[name] === 'free'
      ? without(name, { settings, variables })
      : null)
  if (candidate) return { isExplicit: true, candidates: [candidate], problem: null }
  const { label, keyVariable, urlVariable } = serviceOf(name)
  return none(`${label} is chosen in config.yaml and ${keyVariable ?? urlVariable} is not set; put it into .env.`)
}

function automatic(options: ChoiceOptions): Choice {
  const { settings, names } = options
  const keyed = names.flatMap((name) => withKey(name, options) ?? [])
  const mayBeAnonymous = settings.keyless_fallback && (keyed.length === 0 || settings.keyless_rescue)
  const anonymous = mayBeAnonymous ? names.flatMap((name) => without(name, options) ?? []) : []
  const candidates = [...keyed, ...anonymous]
  if (candidates.length > 0) return { isExplicit: false, candidates, problem: null }
  const variables = names.flatMap((name) => serviceOf(name).keyVariable ?? [])
  return none(
    `No service is configured. Put one of ${variables.join(', ')} or SEARXNG_URL into .env, or set web.keyless_fallback: true.`,
  )
}

const none = (problem: string): Choice => ({ isExplicit: true, candidates: [], problem })

function withKey(
  name: string,
  { settings, variables }: Pick<ChoiceOptions, 'settings' | 'variables'>,
): Candidate | null {
  const { baseUrl: usual, urlVariable, keyVariable } = serviceOf(name)
  const address = urlVariable === undefined ? '' : (variables[urlVariable] ?? '').trim()
  const baseUrl = (address || usual).replace(/\/+$/, '')
  const key = keyVariable === null ? '' : (variables[keyVariable] ?? '').trim()
  if (settings.provider_tier[name] === 'free') return null
  if (key !== '') return { name, key, baseUrl }
  // A server of one's own needs none.
  return address === '' || keyVariable === 'TOOL_GATEWAY_USER_TOKEN' || name === 'xai'
    ? null
    : { name, key: '', baseUrl }
}

function without(name: string, { settings }: Pick<ChoiceOptions, 'settings' | 'variables'>): Candidate | null {
  const { baseUrl, anonymous } = serviceOf(name)
  return anonymous === undefined || settings.provider_tier[name] === 'paid' ? null : { name, key: null, baseUrl }
}
