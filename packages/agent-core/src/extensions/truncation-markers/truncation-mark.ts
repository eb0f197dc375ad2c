import type { ToolCallPart } from '@hermes/contracts/conversation'

/** Marks for what is left out of results, outputs, memory and earlier messages that the model sees. */
const MARK = /\[… ?\d[\d,.]* (?:characters|bytes) left out[^\]\n]{0,300}\]/

/** The mark in the arguments of a call, which whoever runs it would take for text; `null` for none. Cheap where there is none. */
export function truncationMark({ rawArgs, args }: Pick<ToolCallPart, 'rawArgs' | 'args'>): string | null {
  return rawArgs.includes('left out') ? (MARK.exec(JSON.stringify(args))?.[0] ?? null) : null
}

/** What the model is told in place of a result. */
export function truncationRefusal(mark: string): string {
  return `Not run: the arguments hold "${mark}". It marks what was left out of a text when that was shown to you and is no part of the text. Get the whole of it again and send that; if the mark itself is meant, send the same call once more.`
}
