// What a hook answered: its exit code and output, read by the rules of its form and its event.
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ChatMessageVerdict } from '@hermes/contracts/extension'
import type { HookDeclaration } from './declarations.js'
import { type EventRow, GATES, type HookForm } from './event-table.js'

/** How the program of a hook ended. */
export interface HookRun {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  /** Why it could not be started, or was not. */
  readonly problem?: string
}

/** What it comes to. */
export interface HookAnswer {
  /** An objection: to a call, a message, an approval. */
  readonly block?: string
  /** A person is to be asked about the call. */
  readonly ask?: string
  /** Other arguments, in the names of the hook's form. */
  readonly updatedInput?: JsonObject
  /** In the place of a result. */
  readonly replace?: string
  /** For the model. */
  readonly context?: string
  /** The run ends. */
  readonly stop?: string
  /** What becomes of a message in a chat. */
  readonly chat?: ChatMessageVerdict
  /** For the person. */
  readonly notice?: string
  /** Of which form the hook is that said so. */
  readonly form?: HookForm
  /** It failed: nothing it said counts. */
  readonly failure?: string
}

const MAX_REASON_CHARS = 400
const MAX_CONTEXT_CHARS = 10_000

/** Reads the answer of a hook. A yes of the hook's own is not obeyed: permissions are the policy's. */
export function readAnswer({ form, row, event, command }: HookDeclaration, run: HookRun): HookAnswer {
  const { exitCode, stdout, stderr, timedOut, problem } = run
  const name = `The hook ${command.slice(0, 80)}`
  if (problem !== undefined) return { failure: `${name} did not run: ${problem}` }
  if (timedOut) return { failure: `${name} took too long.` }
  const { watches = false } = row
  const parsed = parse(stdout)
  if (exitCode === 2 && objectsByCode(form, row)) {
    // Only that form says its reason in JSON there; the others read standard error alone.
    const objection = form === 'hermes' && parsed.type === 'object' ? reasonIn(parsed.value) : null
    return { block: objection ?? shortened(stderr, MAX_REASON_CHARS) ?? `${name} (${event}) objected.` }
  }
  if (exitCode !== 0) {
    const code = exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`
    const why = shortened(stderr, 200)
    return { failure: `${name} ${code}${why === null ? '.' : `: ${why}`}` }
  }
  switch (parsed.type) {
    case 'nothing':
      return {}
    case 'text': {
      const context = row.plainText === true ? shortened(parsed.value, MAX_CONTEXT_CHARS) : null
      return context === null ? {} : { context }
    }
    case 'broken':
      return { failure: `${name} answered with broken JSON.` }
    case 'object':
      return watches ? noticeIn(parsed.value) : { ...readObject(parsed.value, event), form }
    default:
      return parsed satisfies never
  }
}

/** Whether exit code 2 is an objection at an event; elsewhere it is a failure like others. */
function objectsByCode(form: HookForm, { point, watches }: EventRow): boolean {
  if (form === 'hermes') return GATES.has(point)
  if (form === 'codex' && point === 'compaction') return false
  return watches !== true && point !== 'session-start'
}

/** Whether it ended so that nothing can be said of what it would have answered. */
export function isUndecided({ exitCode, timedOut, problem, stdout }: HookRun): boolean {
  if (problem !== undefined || timedOut || exitCode === null || exitCode === 126 || exitCode === 127) return true
  return exitCode === 0 && parse(stdout).type === 'broken'
}

type Parsed =
  | { readonly type: 'nothing' }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'object'; readonly value: JsonObject }
  | { readonly type: 'broken' }

function parse(stdout: string): Parsed {
  const text = stdout.trim()
  if (text === '') return { type: 'nothing' }
  if (!text.startsWith('{')) return { type: 'text', value: text }
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? { type: 'object', value } : { type: 'broken' }
  } catch {
    return { type: 'broken' }
  }
}

function readObject(value: JsonObject, event: string): HookAnswer {
  const own = isJsonObject(value['hookSpecificOutput']) ? value['hookSpecificOutput'] : {}
  // A part for another event is not for this one.
  const specific = own['hookEventName'] === undefined || own['hookEventName'] === event ? own : {}
  const reason = reasonIn(value) ?? 'A hook objected.'
  const word = wordOf(value['decision']) ?? wordOf(value['action'])
  if (event === 'pre_gateway_dispatch') return { ...chatIn(word, value['text']), ...noticeIn(value) }
  const permission = wordOf(specific['permissionDecision'])
  const permissionReason = textIn(specific['permissionDecisionReason'])
  const verdict = isJsonObject(specific['decision']) ? specific['decision'] : {}
  const isDenied = verdict['behavior'] === 'deny'
  const updated = firstObject(
    specific['updatedInput'],
    word === 'modify' ? (value['args'] ?? value['tool_input']) : undefined,
  )
  const output = specific['updatedToolOutput'] ?? specific['updatedMCPToolOutput']
  const replace = textOf(output) ?? (word === 'replace' ? textIn(value['text']) : null)
  const context = shortened(textIn(specific['additionalContext']) ?? textIn(value['context']) ?? '', MAX_CONTEXT_CHARS)
  const isAsking = permission === 'ask' || (word === 'approve' && value['action'] !== undefined)
  return {
    ...(word === 'block' || word === 'continue' || word === 'deny' ? { block: reason } : {}),
    ...(permission === 'deny' || permission === 'defer' ? { block: permissionReason ?? reason } : {}),
    ...(isDenied ? { block: textIn(verdict['message']) ?? reason } : {}),
    ...(isAsking ? { ask: permissionReason ?? reasonIn(value) ?? 'A hook wants you to look at this call.' } : {}),
    ...(updated === null ? {} : { updatedInput: updated }),
    ...(replace === null ? {} : { replace }),
    ...(context === null ? {} : { context }),
    ...(value['continue'] === false
      ? { stop: textIn(value['stopReason']) ?? reasonIn(value) ?? 'A hook ended the run.' }
      : {}),
    ...noticeIn(value),
  }
}

function chatIn(word: string | null, text: JsonValue | undefined): Pick<HookAnswer, 'chat'> {
  if (word === 'rewrite') return typeof text === 'string' ? { chat: { type: 'rewrite', text } } : {}
  if (word === 'allow') return { chat: { type: 'allow' } }
  return word === 'skip' || word === 'block' ? { chat: { type: 'drop' } } : {}
}

function noticeIn(value: JsonObject): Pick<HookAnswer, 'notice'> {
  const notice = textIn(value['systemMessage'])
  return notice === null ? {} : { notice }
}

function reasonIn(value: JsonObject): string | null {
  return shortened(textIn(value['reason']) ?? textIn(value['message']) ?? '', MAX_CONTEXT_CHARS)
}

const wordOf = (value: JsonValue | undefined) => (typeof value === 'string' ? value.toLowerCase() : null)

const textIn = (value: JsonValue | undefined) => (typeof value === 'string' && value.trim() !== '' ? value : null)

function textOf(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function firstObject(...values: readonly (JsonValue | undefined)[]): JsonObject | null {
  return values.find((value): value is JsonObject => isJsonObject(value)) ?? null
}

function shortened(text: string, most: number): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  return trimmed.length <= most ? trimmed : `${trimmed.slice(0, most)}…`
}
