import type { ToolResult } from '@hermes/contracts/tool'

/** A result that says the call failed; `text` tells what to try instead. */
export const failure = (text: string): Exclude<ToolResult, string> => ({ text, isError: true })

/** `1 line`, `2 lines`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
