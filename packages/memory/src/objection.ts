import type { ContextFinding } from '@hermes/safety'

/** What a text is held against before it is remembered. */
interface ObjectionChecks {
  /** Takes registered secrets out. */
  readonly redact: (text: string) => string
  readonly scan: (text: string) => readonly ContextFinding[]
}

/** The scanner, loaded when there is something to remember. */
export async function loadChecks(redact: ObjectionChecks['redact']): Promise<ObjectionChecks> {
  const { scanContext } = await import('@hermes/safety/scan')
  return { redact, scan: scanContext }
}

/** Why a text must not be remembered: every later session would read it as its own note. `null` when it may. */
export function objectionTo(content: string, { redact, scan }: ObjectionChecks): string | null {
  if (redact(content) !== content)
    return 'That holds a key or another secret. Remember where it is kept, not what it is.'
  const [finding] = scan(content)
  if (finding)
    return `That reads like an order to the agent (${finding.rule}), so it is not remembered. Put the fact in plain words.`
  return null
}

const ACT =
  '(?:run|execute|send|post|upload|read|open|print|fetch|download|forward|copy|delete|remove|ignore|skip|load|visit|include|install|call|write|follow|obey)'
const SENTENCE = '(?:^|[.!?;:\\n][^\\S\\n]*)(?:please\\s+|then\\s+|also\\s+|first,?\\s+)*'
const ORDERS: readonly RegExp[] = [
  /\b(?:the\s+)?(?:agents?|assistants?|hermes|ai|model|you)\s+(?:shall|must|should|(?:has|have|needs?)\s+to|(?:is|are)\s+to)\b/i,
  new RegExp(
    `${SENTENCE}(?:always|never|from\\s+now\\s+on|whenever|each\\s+time|every\\s+time|before\\s+each|after\\s+each|when\\s+(?:you\\s+are\\s+)?asked)\\b[^.\\n]{0,80}\\b${ACT}\\b`,
    'i',
  ),
  new RegExp(`${SENTENCE}${ACT}\\s+(?!only\\b|access\\b|by\\b)\\w`, 'i'),
]

/**
 * Why a note of the agent must not be kept as it is worded: later sessions would take an order for one of the user. `null` when it may.
 * @see 001 section 9.5
 */
export function orderIn(content: string): string | null {
  if (!ORDERS.some((order) => order.test(content))) return null
  return 'That is worded as an order. Say what is so, for example "The tests run with pytest -n 4" or "The user prefers short answers"; how something is done belongs into the project.'
}
