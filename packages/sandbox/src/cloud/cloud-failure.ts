import { errorLine, HermesError } from '@hermes/contracts'

/** What a service said no with. */
interface Refusal {
  /** As in HTTP. */
  readonly status: number
  readonly message: string
}

/** How one cloud calls what a person has to look at. */
export interface CloudWords {
  /** For example `Daytona`. */
  readonly service: string
  /** The variables or settings that hold the credentials. */
  readonly credentials: string
  /** What errors call the sandbox. */
  readonly sandbox: string
}

/** An answer that says no, as one line. `isOfSandbox`: it was asked of the sandbox itself, so that missing means gone. */
export function refused({ status, message }: Refusal, words: CloudWords, isOfSandbox: boolean): HermesError {
  const reason = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  const { service, credentials, sandbox } = words
  const make = (line: string, code: string, retryable = false) =>
    new HermesError(line, { code: `environment.${code}`, retryable, details: { status, said: reason } })
  if (
    /quota|limit exceeded|exceeds? .*limit|spend limit|out of credits|payment required/i.test(reason) ||
    status === 402
  ) {
    return make(`${service} gives no more: ${reason}. Stop what is not needed, or raise the limit.`, 'quota_exceeded')
  }
  switch (status) {
    case 401:
      return make(`${service} refuses the login. Check ${credentials}.`, 'auth_failed')
    case 403:
      return make(
        `${service} does not allow this with these credentials: ${reason}. Check ${credentials}.`,
        'auth_failed',
      )
    case 429:
      return make(`${service} has had too many requests for now; try again in a while.`, 'rate_limited', true)
    case 404:
    case 410:
      if (!isOfSandbox) return make(`${service} does not know what was asked for: ${reason}.`, 'not_found')
      return make(`${sandbox} is gone: ${reason}. The next command opens another one.`, 'sandbox_gone', true)
    default:
      return status >= 500
        ? make(`${service} has trouble (${status}): ${reason}. Try again in a while.`, 'service_unavailable', true)
        : make(`${service} refused: ${reason}.`, 'refused')
  }
}

/** A failure without an answer: no network, or the connection was cut. */
export function unreachable(error: unknown, { service }: CloudWords): HermesError {
  return new HermesError(`${service} cannot be reached: ${reason(error).replace(/\.$/, '')}. Check the network.`, {
    code: 'environment.unreachable',
    retryable: true,
    cause: error,
  })
}

/** What lies under a failed fetch says more than that it failed. */
function reason(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error ? errorLine(cause) : errorLine(error)
}
