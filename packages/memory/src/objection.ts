import { scanContext } from '@hermes/safety'

/**
 * Why a text must not be remembered: every later session would read it as its own note. `redact` takes out registered secrets.
 * `null` when it may.
 */
export function objectionTo(content: string, redact: (text: string) => string): string | null {
  if (redact(content) !== content)
    return 'That holds a key or another secret. Remember where it is kept, not what it is.'
  const [finding] = scanContext(content)
  if (finding)
    return `That reads like an order to the agent (${finding.rule}), so it is not remembered. Put the fact in plain words.`
  return null
}
