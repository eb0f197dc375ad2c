import type { Action } from '@hermes/contracts/policy'

/** What a rule says. */
export type RuleEffect = 'allow' | 'ask' | 'deny'

/** One line of `permissions.yaml`. */
export interface PermissionRule {
  /** As written: `terminal.*`, `file.write`, `terminal(git push*)`, `write_file(src/**)`. */
  readonly pattern: string
  readonly effect: RuleEffect
}

/** What the name in front of a pattern's brackets stands for. */
interface Selector {
  readonly types: readonly Action['type'][]
  /** Only these operations of a write. */
  readonly operation?: string
}

const SPAWN: Selector = { types: ['spawn'] }
const READ: Selector = { types: ['read'] }
const WRITE: Selector = { types: ['write'] }
const FETCH: Selector = { types: ['fetch'] }
const SEND: Selector = { types: ['send'] }

const SELECTORS: Readonly<Record<string, Selector>> = Object.freeze({
  '*': { types: ['spawn', 'read', 'write', 'fetch', 'send'] },
  terminal: SPAWN,
  'terminal.run': SPAWN,
  process: SPAWN,
  shell: SPAWN,
  execute_code: SPAWN,
  file: { types: ['read', 'write'] },
  'file.read': READ,
  read_file: READ,
  search_files: READ,
  'file.write': WRITE,
  write_file: WRITE,
  patch: WRITE,
  'file.mkdir': { types: ['write'], operation: 'mkdir' },
  'file.rename': { types: ['write'], operation: 'rename' },
  'file.remove': { types: ['write'], operation: 'remove' },
  'file.delete': { types: ['write'], operation: 'remove' },
  web: FETCH,
  'web.fetch': FETCH,
  fetch: FETCH,
  send: SEND,
  send_message: SEND,
})

/** A rule split into what it selects and what it asks of the action. */
export interface ParsedRule extends PermissionRule {
  readonly selector: Selector
  /** What stands in the brackets. */
  readonly argument: string | null
  /** More specific rules win: an argument by its literal characters, then an operation, a group, `*`. */
  readonly specificity: number
}

const SHAPE = /^\s*(\*|[a-z_]+(?:\.[a-z_]+|\.\*)?)\s*(?:\(([\s\S]*)\))?\s*$/

/** Reads a pattern; a string says what is wrong with it. */
export function parseRule(rule: PermissionRule): ParsedRule | string {
  const match = SHAPE.exec(rule.pattern)
  if (!match) return `"${rule.pattern}" is not a pattern; write a name such as terminal.* or terminal(git push*).`
  const name = match[1]!.replace(/\.\*$/, '')
  const selector = Object.hasOwn(SELECTORS, name) ? SELECTORS[name]! : null
  if (!selector) return `"${rule.pattern}" names nothing known; use one of ${Object.keys(SELECTORS).join(', ')}.`
  const argument = match[2] === undefined || match[2] === '*' ? null : match[2]
  const breadth = name === '*' ? 0 : selector.operation || name.includes('.') || selector.types.length === 1 ? 2 : 1
  const literal = argument?.replace(/[*?]/g, '').length ?? 0
  return { ...rule, selector, argument, specificity: argument === null ? breadth : 10 + literal }
}

/** Reads a plain record, such as the content of `permissions.yaml`. What is wrong becomes a problem, one line each; the rest counts. */
export function parseRules(record: Readonly<Record<string, unknown>>): {
  readonly rules: readonly PermissionRule[]
  readonly problems: readonly string[]
} {
  const rules: PermissionRule[] = []
  const problems: string[] = []
  for (const [pattern, effect] of Object.entries(record)) {
    if (effect !== 'allow' && effect !== 'ask' && effect !== 'deny') {
      problems.push(`"${pattern}" must be allow, ask or deny, not ${JSON.stringify(effect)}.`)
      continue
    }
    const parsed = parseRule({ pattern, effect })
    if (typeof parsed === 'string') problems.push(parsed)
    else rules.push({ pattern, effect })
  }
  return { rules, problems }
}
