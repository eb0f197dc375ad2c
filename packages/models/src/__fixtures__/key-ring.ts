import type { Clock } from '@hermes/contracts'
import type { Credential, CredentialOutcome, CredentialSource } from '@hermes/contracts/model'

const COOLDOWN_MS = 3_600_000

/** A credential source in memory: takes the first key that neither rests nor is dead. */
export function keyRing(
  count: number,
  clock: Clock,
  refresh: CredentialSource['refresh'] = async () => null,
): CredentialSource & { readonly reports: readonly (readonly [id: string, outcome: CredentialOutcome['type']])[] } {
  const keys = Array.from({ length: count }, (_, index): Credential => {
    return { id: `k${index + 1}`, secret: `secret-${index + 1}` }
  })
  const coolsDownUntilMs = new Map<string, number>()
  const reports: (readonly [string, CredentialOutcome['type']])[] = []
  const usableAt = ({ id }: Credential) => coolsDownUntilMs.get(id) ?? 0
  return {
    reports,
    select: async () => keys.find((key) => usableAt(key) <= clock.now()) ?? null,
    usableAtMs: async () => {
      const soonest = Math.min(...keys.map(usableAt))
      return Number.isFinite(soonest) ? soonest : null
    },
    report: async ({ id }, outcome) => {
      reports.push([id, outcome.type])
      if (outcome.type === 'accepted') return
      const { retryable, retryAfterMs = COOLDOWN_MS } = outcome.verdict
      coolsDownUntilMs.set(id, retryable ? clock.now() + retryAfterMs : Number.POSITIVE_INFINITY)
    },
    refresh,
  }
}
