// How long answers wait before they are sent, where they are to come as a person's would.
import type { HermesConfig } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { ChatVariables } from '@hermes/runtime'

const NATURAL = { minMs: 800, maxMs: 2_500 }
const MOST_MS = 60_000

/** Milliseconds, both included. */
export interface Pause {
  readonly minMs: number
  readonly maxMs: number
}

/**
 * The pause that variables and config.yaml name; `null` for none.
 * @throws HermesError `platform.bad_options`
 */
export function humanDelay(
  { human_delay: own }: Pick<HermesConfig, 'human_delay'>,
  variables: ChatVariables,
): Pause | null {
  const mode = variables['HERMES_HUMAN_DELAY_MODE'] || own.mode
  const minMs = Number(variables['HERMES_HUMAN_DELAY_MIN_MS'] || own.min_ms)
  const maxMs = Number(variables['HERMES_HUMAN_DELAY_MAX_MS'] || own.max_ms)
  if (mode === 'off') return null
  if (mode === 'natural') return NATURAL
  if (mode !== 'custom') throw wrong(`human_delay.mode is off, natural or custom, not "${mode}".`)
  if (!(minMs >= 0 && minMs <= maxMs && maxMs <= MOST_MS))
    throw wrong(
      `human_delay.min_ms and max_ms are milliseconds from 0 to ${MOST_MS}, min_ms not above max_ms; they are ${minMs} and ${maxMs}.`,
    )
  return { minMs, maxMs }
}

/** A pause between the two, by a number from 0 to 1. */
export function pauseBetween({ minMs, maxMs }: Pause, random: number): number {
  return Math.round(minMs + (maxMs - minMs) * random)
}

function wrong(message: string): HermesError {
  return new HermesError(message, { code: 'platform.bad_options' })
}
