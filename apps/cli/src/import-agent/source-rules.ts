/** What a rule says. */
export type Decision = 'allow' | 'ask' | 'deny'

/**
 * A permission rule of Claude Code as one of permissions.yaml: `Bash(git push:*)` is `terminal(git push*)`. `null` for those about other
 * tools, and for one that would allow every command. Pure.
 * @see https://code.claude.com/docs/en/settings
 */
export function toRule(rule: string, decision: Decision): string | null {
  if (rule === 'Bash') return decision === 'allow' ? null : 'terminal'
  const command = /^Bash\((.*)\)$/s.exec(rule)?.[1]?.replace(/:\*$/, '*').trim()
  if (command === undefined || command === '' || /\n/.test(command)) return null
  return /^\**$/.test(command) && decision === 'allow' ? null : `terminal(${command})`
}
