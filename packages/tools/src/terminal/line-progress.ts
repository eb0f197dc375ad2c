import type { Clock } from '@hermes/contracts'
import { cleanOutput } from '@hermes/sandbox'

const INTERVAL_MS = 100
const MAX_LINE_CHARS = 200
const MAX_KEPT_CHARS = 4000

/** Takes output as it comes and shows its last line that is not blank, at most ten times a second. */
export function createLineProgress(show: (line: string) => void, clock: Clock): (text: string) => void {
  let tail = ''
  let shownAtMs = Number.NEGATIVE_INFINITY
  return (text) => {
    tail = (tail + text).slice(-MAX_KEPT_CHARS)
    const nowMs = clock.now()
    if (nowMs - shownAtMs < INTERVAL_MS) return
    const line = cleanOutput(tail).trimEnd().split('\n').at(-1)!.trim()
    if (line === '') return
    shownAtMs = nowMs
    show(line.slice(0, MAX_LINE_CHARS))
  }
}
