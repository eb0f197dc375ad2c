import { HermesError } from '@hermes/contracts'
import type { Environment, ExecOptions, ExecResult } from '@hermes/contracts/environment'
import type { Action, Policy, Subject } from '@hermes/contracts/policy'

/** What a command of the person's own runs with. */
interface OwnCommandContext {
  readonly policy: Policy
  readonly environment: Environment
  readonly subject: Pick<Subject, 'sessionId' | 'platform' | 'user'>
}

/** How a command of the person's own is run. */
export type OwnCommandOptions = Required<Pick<ExecOptions, 'signal' | 'onOutput'>> & {
  /** Beside what the agent runs: directory and variables stay as they are. Default `false`. */
  readonly aside?: boolean
}

const TIMEOUT_MS = 600_000
const MAX_OUTPUT_BYTES = 20_000

/**
 * Runs what the person typed as a command, where the agent's run, with what the person may reach themselves: typing it was the yes to it, and
 * what the policy denies stays denied. Ends after 10 minutes; abort ends it and resolves. @throws HermesError `policy.denied` with the reason.
 */
export async function runOwnCommand(
  { policy, environment, subject }: OwnCommandContext,
  command: string,
  { signal, onOutput, aside = false }: OwnCommandOptions,
): Promise<ExecResult> {
  const outside = environment.capabilities.outside ? ({ outside: true } as const) : {}
  const action: Action = { type: 'spawn', command, cwd: environment.cwd(), backend: environment.backend, ...outside }
  const { root } = environment
  const who = { ...subject, agentPath: ['root'], origin: 'operator', tainted: false } as const
  const known = root === undefined ? who : { ...who, workspace: root }
  const decision = await policy.decide(action, known, { signal, mayAsk: false, agreed: 'typed by the user' })
  if (decision.type !== 'allow')
    throw new HermesError(`Not run: ${decision.type === 'deny' ? decision.reason : decision.question.summary}`, {
      code: 'policy.denied',
    })
  const how = { ...outside, throwAway: aside && !environment.capabilities.outside }
  const limits = { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT_BYTES }
  return environment.exec(decision.permit, command, { ...limits, ...how, signal, onOutput })
}
