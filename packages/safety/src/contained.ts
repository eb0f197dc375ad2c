import type { Action } from '@hermes/contracts/policy'

/** Rules about the machine itself, and about programs of others on it. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  ...['elevated', 'system-settings', 'system-file', 'sudoers', 'device', 'shell-startup', 'crontab', 'world-writable'],
  ...[
    'change-owner',
    'stop-service',
    'force-kill',
    'kill-own',
    'raw-copy',
    'format-disk',
    'remote-to-shell',
    'piped-shell',
    'inline-code',
  ],
])
const NOTHING: ReadonlySet<string> = new Set()

/**
 * Rules that ask nothing about an action because it happens on a machine made for the agent, one of the backends in `contained`, where
 * nothing of the user's is mounted. What is lost, leaves or is published asks there too.
 */
export function liftedRules(
  action: Action,
  { contained }: { readonly contained: readonly string[] },
): ReadonlySet<string> {
  return action.type === 'spawn' && contained.includes(action.backend) ? OF_THE_MACHINE : NOTHING
}
