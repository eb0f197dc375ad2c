import { HermesError } from '@hermes/contracts'
import { programLine } from '@hermes/contracts/environment'
import type { Action, Permit, Policy } from '@hermes/contracts/policy'

/** Variables that programs get which the person has Hermes start; keys and tokens only where the configuration names them. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TERM|SHELL|TMPDIR|TZ|XDG_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no|all)_proxy|DISPLAY|WAYLAND_DISPLAY)$/i

/** Of `env` what such a program gets. */
export function passedVariables(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([variable]) => PASSED.test(variable)))
}

/** What a permit for such a program is asked with. */
interface OwnProgram {
  /** `mcp`, `browser`. */
  readonly platform: string
  /** What was not started, with its first letter as in a sentence: `The MCP server files`. */
  readonly name: string
  readonly sessionId: string
  readonly user: string
  readonly policy: Policy
}

/**
 * The person chose the program; rules that deny it, and what nobody may run unasked, count all the same.
 * @throws HermesError `PLATFORM.not_permitted`.
 */
export async function permitOwnProgram(
  action: Action,
  { platform, name, sessionId, user, policy }: OwnProgram,
): Promise<Permit> {
  const subject = { sessionId, platform, user, agentPath: ['root'], tainted: false } as const
  const decision = await policy.decide(action, { ...subject, origin: 'operator' }, { mayAsk: false })
  if (decision.type === 'allow') return decision.permit
  const reason = decision.type === 'deny' ? decision.reason : decision.question.summary
  const isUnasked = decision.type === 'deny' && decision.isUnasked === true
  const way = isUnasked && action.type === 'spawn' ? ruleFor(action.command) : ''
  throw new HermesError(`${name} was not started: ${reason}${way}`, { code: `${platform}.not_permitted` })
}

/** How the person lets it run, where a rule can name it as it is. */
const ruleFor = (command: string): string =>
  /[*?[\](){}'"\\]/.test(command)
    ? ''
    : ` To let it run: hermes permissions add ${programLine([`terminal(${command})`])} allow`
