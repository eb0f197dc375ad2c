import type { ToolCallPart } from '@hermes/contracts/conversation'

/** A call goes out again with every later request; its text is found once. */
const argumentTexts = new WeakMap<ToolCallPart, string>()

/** The arguments of a call as they go back to a server that takes them as text. */
export function argumentText(call: ToolCallPart): string {
  const text = argumentTexts.get(call) ?? toArgumentText(call)
  argumentTexts.set(call, text)
  return text
}

/** The model's own bytes where they are valid, since those are what its cache holds. */
function toArgumentText({ args, rawArgs }: ToolCallPart): string {
  if (args === null) return '{}'
  try {
    const value: unknown = JSON.parse(rawArgs)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject && !hasLoneSurrogate(rawArgs, value)) return rawArgs
  } catch {
    // Repaired on arrival: the repaired form goes back.
  }
  return JSON.stringify(args)
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/

/** Half of a character, written as an escape: servers that read the arguments cannot write them again. */
function hasLoneSurrogate(rawArgs: string, value: object): boolean {
  return ESCAPED_SURROGATE.test(rawArgs) && ESCAPED_SURROGATE.test(JSON.stringify(value))
}
