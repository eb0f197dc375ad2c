// What several hooks say of one call, as one thing: block counts over ask, ask over other arguments.
import type { JsonObject } from '@hermes/contracts'
import type { TextPart } from '@hermes/contracts/conversation'
import type { ToolCallVerdict, ToolResultChange } from '@hermes/contracts/extension'
import type { HookAnswer } from './answer.js'
import { argsFrom } from './tool-names.js'

/** What hooks say of a call: at once, and what a person is to be asked. */
export function verdictOf(
  answers: readonly HookAnswer[],
  call: { readonly toolName: string; readonly args: JsonObject; readonly cwd: string },
): { readonly now: ToolCallVerdict | undefined; readonly ask: string | undefined } {
  const stop = answers.find((answer) => answer.stop !== undefined)?.stop
  const block = answers.find((answer) => answer.block !== undefined)?.block
  if (stop !== undefined) {
    const reason = block ?? stop
    return {
      now: { type: 'end-run', code: 'hooks.stopped', message: `A hook ended this run: ${stop}`, reason },
      ask: undefined,
    }
  }
  if (block !== undefined) return { now: { type: 'block', reason: block }, ask: undefined }
  let { args } = call
  let isChanged = false
  for (const { updatedInput, form = 'hermes' } of answers) {
    if (updatedInput === undefined) continue
    const next = argsFrom(form, call.toolName, { args, cwd: call.cwd, updated: updatedInput })
    if (next === null)
      return {
        now: { type: 'block', reason: 'A hook changed this call in a way that cannot be applied here.' },
        ask: undefined,
      }
    isChanged ||= JSON.stringify(next) !== JSON.stringify(args)
    args = next
  }
  const ask = answers.find((answer) => answer.ask !== undefined)?.ask
  const now: ToolCallVerdict | undefined = isChanged
    ? { type: 'rewrite', args, reason: 'a hook changed it' }
    : undefined
  return { now, ask }
}

/** What becomes of a result; `before` is what hooks said ahead of the call. */
export function changeOf(
  answers: readonly HookAnswer[],
  before: readonly string[],
  isError: boolean,
): ToolResultChange | undefined {
  const replace = answers.findLast((answer) => answer.replace !== undefined)?.replace
  const reply = [
    ...before,
    ...answers.flatMap(({ block, context }) => [block, context].filter((text) => text !== undefined)),
  ]
  const stop = answers.find((answer) => answer.stop !== undefined)?.stop
  if (replace === undefined && reply.length === 0 && stop === undefined) return undefined
  return {
    ...(replace === undefined ? {} : { replace: { content: [{ type: 'text', text: replace }], isError } }),
    ...(reply.length === 0 ? {} : { append: reply.map(reminder) }),
    ...(stop === undefined
      ? {}
      : { end: { type: 'end-run', code: 'hooks.stopped', message: `A hook ended this run: ${stop}` } }),
  }
}

/** What hooks have for the model, in their order. */
export const contextsIn = (answers: readonly HookAnswer[]) =>
  answers.flatMap(({ context }) => (context === undefined ? [] : [context]))

export const reminder = (text: string): TextPart => ({ type: 'text', text, origin: 'reminder' })
