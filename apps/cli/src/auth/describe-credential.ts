import { formatDuration } from '@hermes/contracts'
import type { CredentialInfo } from '@hermes/credential-pool'
import { printable } from '../render/style.js'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Where a credential comes from, for people. */
export function describeSource({ source, type }: Pick<CredentialInfo, 'source' | 'type'>): string {
  if (source.startsWith('env:')) return 'environment or .env'
  if (source.startsWith('config:')) return 'config.yaml'
  return type === 'oauth' ? 'login' : 'kept here'
}

/** Whether it can be used, for people. */
export function describeState(
  { state, lastError }: Pick<CredentialInfo, 'state' | 'lastError'>,
  nowMs: number,
): string {
  const text = lastError === null ? '' : `: ${printable(lastError)}`
  switch (state.type) {
    case 'ready':
      return 'ready'
    case 'cooling':
      return `rests for ${describeSpan(state.untilMs - nowMs)} (${state.reason.replaceAll('_', ' ')}${text})`
    case 'dead':
      return `refused (${state.reason.replaceAll('_', ' ')}${text})`
    case 'absent':
      return 'not set here'
    default:
      return state satisfies never
  }
}

/** How long a token is still good, for people; empty for a key. */
export function describeExpiry({ expiresAtMs, isRenewable }: CredentialInfo, nowMs: number): string {
  if (expiresAtMs === null) return ''
  if (isRenewable) return 'renews itself'
  return expiresAtMs <= nowMs ? 'expired' : `expires in ${describeSpan(expiresAtMs - nowMs)}`
}

/** A duration for people, rounded up: `42 s`, `17 min 5 s`, `3 h`, `2 days`. */
function describeSpan(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.ceil(ms / DAY_MS)} days`
  if (ms >= 2 * HOUR_MS) return `${Math.ceil(ms / HOUR_MS)} h`
  return formatDuration(Math.ceil(ms / SECOND_MS) * SECOND_MS).replace('.0 s', ' s')
}

/** The end of a secret, or nothing where it would say too much. */
export function describeHint({ hint, type }: Pick<CredentialInfo, 'hint' | 'type'>): string {
  return `${type === 'oauth' ? 'login' : 'key'}${hint === '' ? '' : ` …${hint}`}`
}
