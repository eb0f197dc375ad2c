import { errorLine } from '@hermes/contracts'
import { cleanLine } from '../tools/clean-text.js'

/** The innermost reason of a failure, for people. */
export function innermostLine(error: unknown): string {
  let line = errorLine(error)
  for (
    let at: unknown = error;
    at instanceof Error;
    at = at.cause ?? (at as { data?: { cause?: unknown } }).data?.cause
  )
    line = errorLine(at)
  return cleanLine(line, 400)
}
