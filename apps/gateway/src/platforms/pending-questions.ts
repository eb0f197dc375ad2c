// What a session waits for, as messages of its chat: with buttons where there are any, and words to type where there are none.
import { APPROVAL_WORDS } from '@hermes/commands'
import { formatDuration } from '@hermes/contracts'
import type { PlatformButton } from '@hermes/contracts/platform'
import type { Action, Approval, ApprovalChoice } from '@hermes/contracts/policy'
import { type KeptQuestion, numberedQuestion } from '@hermes/contracts/tool'
import type { Outgoing } from '@hermes/platform'

const MAX_ACTION_CHARS = 1_500
const MAX_LABEL_CHARS = 40

const LABELS: Readonly<Record<ApprovalChoice, string>> = {
  once: 'Allow once',
  session: 'For this session',
  always: 'Always',
  deny: 'Deny',
}

/** How an answer is shown afterwards. */
const DONE: Readonly<Record<ApprovalChoice, string>> = {
  once: 'Allowed once',
  session: 'Allowed for this session',
  always: 'Always allowed',
  deny: 'Denied',
}

/** A pressed button, read back. */
type Pressed =
  | { readonly type: 'approval'; readonly id: string; readonly choice: ApprovalChoice }
  | { readonly type: 'question'; readonly id: string; readonly index: number }
  | { readonly type: 'file'; readonly id: string; readonly answer: 'yes' | 'no' }

export function readPressed(data: string): Pressed | null {
  const [, kind, id, what] = /^([aqf]):([\w-]{1,40}):(\w{1,10})$/.exec(data) ?? []
  if (id === undefined || what === undefined) return null
  if (kind === 'f') return what === 'yes' || what === 'no' ? { type: 'file', id, answer: what } : null
  if (kind === 'q') return { type: 'question', id, index: Number(what) }
  return Object.hasOwn(LABELS, what) ? { type: 'approval', id, choice: what as ApprovalChoice } : null
}

/** The answer that somebody typed after `/approve`; `null` for a word that is none. */
export function typedChoice(words: string): ApprovalChoice | null {
  const word = words.trim().toLowerCase() || 'once'
  const names = Object.keys(APPROVAL_WORDS) as ApprovalChoice[]
  return names.find((name) => APPROVAL_WORDS[name].includes(word)) ?? null
}

export function approvalMessage(
  approval: Approval,
  { nowMs, hasButtons }: { nowMs: number; hasButtons: boolean },
): Outgoing {
  const { id, question, expiresAtMs } = approval
  const { choices, grant } = question
  const left = formatDuration(Math.max(0, expiresAtMs - nowMs))
  const lines = [
    `⏸ **This waits for your approval:** ${oneLine(question.summary)}`,
    fenced(actionText(question.action)),
    `Why it is asked: \`${question.rule}\`. The question is good for ${left}.`,
    ...(grant === undefined ? [] : [`"Always" writes the rule: \`${oneLine(grant)}\``]),
    ...(hasButtons ? [] : [`Answer with ${typedAnswers(choices)}.`]),
  ]
  const buttons = choices.map((choice): PlatformButton => ({ label: LABELS[choice], data: `a:${id}:${choice}` }))
  return { text: lines.join('\n'), ...(hasButtons ? { buttons: inPairs(buttons) } : {}) }
}

/** The same message once it is over. */
export function answeredMessage({ question, choice, by }: Approval, edits: string): Outgoing {
  const how = choice === null ? 'Nobody answered in time' : `${choice === 'deny' ? '✖' : '✔'} ${DONE[choice]}`
  const who = by === null ? '' : ` by ${oneLine(by)}`
  return { text: `${how}${who}: ${oneLine(question.summary)}\n${fenced(actionText(question.action))}`, edits }
}

export function questionMessage({ id, question }: KeptQuestion, { hasButtons }: { hasButtons: boolean }): Outgoing {
  const { choices } = question
  if (!hasButtons || choices.length === 0) return { text: numberedQuestion(question), markup: 'plain' }
  const buttons = choices.map((label, index) => [{ label: label.slice(0, MAX_LABEL_CHARS), data: `q:${id}:${index}` }])
  return { text: numberedQuestion(question), markup: 'plain', buttons }
}

/** A question that has its answer. */
export function answeredQuestion(
  text: string,
  { answer, by, edits }: { answer: string; by: string; edits: string },
): Outgoing {
  return { text: `${text}\n✔ ${oneLine(answer)} (${oneLine(by)})`, markup: 'plain', edits }
}

function typedAnswers(choices: readonly ApprovalChoice[]): string {
  const words: Readonly<Record<ApprovalChoice, string>> = {
    once: '/approve',
    session: '/approve session',
    always: '/approve always',
    deny: '/deny',
  }
  return choices.map((choice) => words[choice]).join(', ')
}

/** The whole of what would be done. */
function actionText(action: Action): string {
  switch (action.type) {
    case 'spawn':
      return `${action.command}\nin ${action.cwd}${action.backend === 'local' ? '' : ` (${action.backend})`}`
    case 'read':
      return `read ${action.path}`
    case 'write':
      return `${action.operation} ${action.path}`
    case 'fetch':
      return `${action.method} ${action.url}`
    case 'send':
      return `send to ${action.target}`
    default:
      return action satisfies never
  }
}

/** A fence that nothing inside can close. */
function fenced(text: string): string {
  const shown = text.length > MAX_ACTION_CHARS ? `${text.slice(0, MAX_ACTION_CHARS).toWellFormed()}…` : text
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${shown}\n${fence}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)
}

function inPairs(buttons: readonly PlatformButton[]): readonly (readonly PlatformButton[])[] {
  return [buttons.slice(0, 2), buttons.slice(2)].filter(({ length }) => length > 0)
}
