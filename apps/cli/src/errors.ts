import { errorLine, HermesError } from '@hermes/contracts'

/** Exit codes of the command line. */
export const EXIT = { ok: 0, failed: 1, usage: 2, stopped: 3, parked: 4, interrupted: 130 } as const

/** What was asked for cannot be: the line says why and what to do. Exit code 2. */
export class UsageError extends Error {}

/** Codes of errors that another command line would not have met. */
const USAGE_ERRORS = [
  /^registry\.unknown_toolset$/,
  /^models\.(?:unknown_provider|unknown_preset|bad_preset|no_key|no_model)/,
  /^runtime\./,
  /^command\./,
  /^transport\.bad_recording$/,
  /^config\.(?:invalid|unknown|bad_profile|profile_exists|bad_archive)/,
  /^credentials\.(?:duplicate|unknown|borrowed|bad_key|not_renewable)$/,
  /^oauth\.not_configured$/,
]

/** How a command failed. */
interface Failure {
  readonly exitCode: number
  readonly line: string
  /** The line says it all; otherwise the log should hold the rest. */
  readonly isOurs: boolean
}

/** The exit code and the one line for anything a command throws. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { exitCode: EXIT.usage, line: error.message, isOurs: true }
  if (HermesError.isInstance(error)) {
    const usage = USAGE_ERRORS.some((pattern) => pattern.test(error.code))
    return { exitCode: usage ? EXIT.usage : EXIT.failed, line: error.message, isOurs: true }
  }
  return {
    exitCode: EXIT.failed,
    line: `Something went wrong inside hermes: ${errorLine(error)}. Details are in the log.`,
    isOurs: false,
  }
}
