// How platforms are doing, and whether they bring what people write.
import type { PlatformState } from '@hermes/contracts/platform'
import type { BreakerState } from '@hermes/platform'

/** A gateway counts as deaf on a platform that brought no news for so long. */
export const HEARS_WITHIN_MS = 120_000

/** How a platform is doing. */
export interface PlatformReport {
  readonly name: string
  readonly state: PlatformState
  readonly heardAtMs: number | null
  readonly atWork: number
  /** How sending goes; a gateway of an older version does not say. */
  readonly sending?: BreakerState
}

/** A platform as `/health/detailed` shows it. */
export interface PlatformHealth {
  readonly name: string
  readonly state: string
  /** Whether it brings what people write. */
  readonly hears: boolean
  readonly detail: string
}

/** How platforms are doing now. */
export function platformHealth(reports: readonly PlatformReport[], nowMs: number): readonly PlatformHealth[] {
  return reports.map((report) => {
    const { hears, text: detail } = hearing(report, nowMs)
    return { name: report.name, state: report.state.type, hears, detail }
  })
}

/** Whether a platform brings what people write, and takes what they are answered, in words. */
export function hearing(report: PlatformReport, nowMs: number): { readonly hears: boolean; readonly text: string } {
  const { hears, text } = hearingAlone(report, nowMs)
  const { sending } = report
  if (sending?.type !== 'broken') return { hears, text }
  const inS = Math.max(0, Math.ceil((sending.untilMs - nowMs) / 1_000))
  const next = `the next try is in ${inS} s`
  return { hears, text: `${text}; ${sending.failures} sends in a row failed (${sending.error}), ${next}` }
}

function waitingText(
  name: string,
  { failures, error, retryAtMs }: PlatformState & { readonly type: 'waiting' },
  nowMs: number,
): string {
  const times = failures === 1 ? 'the last try to connect' : `${failures} tries to connect in a row`
  const inS = Math.max(0, Math.ceil((retryAtMs - nowMs) / 1_000))
  return `${times} failed (${error}), the next is in ${inS} s, or now with: hermes gateway platforms resume ${name}`
}

/** Tries to connect in a row that came to nothing. */
export function failedConnects({ state }: PlatformReport): number {
  return state.type === 'waiting' || state.type === 'connecting' ? (state.failures ?? 0) : 0
}

function hearingAlone(
  { name, state, heardAtMs }: PlatformReport,
  nowMs: number,
): { readonly hears: boolean; readonly text: string } {
  switch (state.type) {
    case 'connected': {
      const ageMs = heardAtMs === null ? Number.POSITIVE_INFINITY : nowMs - heardAtMs
      const hears = ageMs <= HEARS_WITHIN_MS
      const since = heardAtMs === null ? 'never' : `${Math.round(ageMs / 1000)} s ago`
      return {
        hears,
        text: hears ? `hears as ${state.account}` : `connected as ${state.account}, but deaf: last heard ${since}`,
      }
    }
    case 'waiting':
      return { hears: false, text: waitingText(name, state, nowMs) }
    case 'failed':
      return { hears: false, text: `off until the configuration changes: ${state.error}` }
    case 'paused':
      // As somebody wants it.
      return { hears: true, text: `paused by a person; on with: hermes gateway platforms resume ${name}` }
    case 'connecting':
    case 'closed':
      return { hears: false, text: state.type }
    default:
      return state satisfies never
  }
}
