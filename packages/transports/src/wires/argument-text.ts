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
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return rawArgs
  } catch {
    // Mended on arrival: the mended form goes back.
  }
  return JSON.stringify(args)
}
