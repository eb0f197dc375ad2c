import type { JsonObject } from '@hermes/contracts'
import type { ToolCallPart, ToolMessage } from '@hermes/contracts/conversation'
import { cutMiddle } from './shrink.js'

/** Results of no more than this stay as they are. */
export const SHORT_CHARS = 300
const ERROR_CHARS = 600
const DELEGATED_CHARS = 1_000

/**
 * A result in a line or few, for a reader who wants to know what was done rather than what came out: short ones and errors nearly as
 * they are, long ones as what was called and how much came of it. Pictures are named, not shown.
 */
export function pruneResult(result: ToolMessage, call: ToolCallPart | null): string {
  // Notes of the program were for the moment; what the user said is none.
  const input = result.content.filter((part) => part.type !== 'text' || part.origin !== 'reminder')
  const text = resultText({ content: input })
  if (result.isError) return `failed: ${cutMiddle(text, ERROR_CHARS)}`
  if (text.length <= SHORT_CHARS) return text
  return describe(result.toolName, call?.args ?? {}, text)
}

/** The text of a result, with a word in place of each picture. */
export function resultText({ content }: Pick<ToolMessage, 'content'>): string {
  return content.map((part) => (part.type === 'text' ? part.text : '[picture]')).join('\n')
}

function describe(toolName: string, args: JsonObject, text: string): string {
  const lines = text.split('\n').length
  const size = `${lines} lines, ${text.length} characters`
  switch (toolName) {
    case 'terminal':
      return `ran \`${word(args['command'])}\`${exitOf(text)}, ${size}, ending with: ${ending(text)}`
    case 'process':
      return `${word(args['action'])} of process ${word(args['session_id'])}: ${size}, ending with: ${ending(text)}`
    case 'execute_code':
      return `ran a program \`${word(args['code'])}\`: ${size}, ending with: ${ending(text)}`
    case 'delegate_task':
      return `handed on '${word(args['goal'] ?? args['tasks'])}': ${cutMiddle(text, DELEGATED_CHARS)}`
    case 'read_file':
      return `read ${word(args['path'])} from line ${args['offset'] ?? 1} (${size})`
    case 'write_file':
    case 'patch':
      return `changed ${word(args['path'] ?? 'files')} (${size} of report)`
    case 'search':
    case 'search_files':
      return `searched for '${word(args['pattern'])}' in ${word(args['path'] ?? '.')}: ${size}, beginning with: ${cutMiddle(text, SHORT_CHARS / 2)}`
    default:
      return `${word(Object.values(args)[0])}: ${size}, beginning with: ${cutMiddle(text, SHORT_CHARS / 2)}`
  }
}

const WORD_CHARS = 160

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return cutMiddle(text.replace(/\s+/g, ' ').trim(), WORD_CHARS)
}

/** Success is not mentioned in a result; a note at its end may say that there is no exit code. */
function exitOf(text: string): string {
  const code = /\bexit(?:_code| code|ed with)?["' :]{1,4}(-?\d+)/i.exec(text.slice(-500))?.[1]
  if (code === undefined && /\n\[[^\n]*\]$/.test(text)) return ''
  return ` -> exit ${code ?? 0}`
}

/** What programs say last is mostly what came of it. */
function ending(text: string): string {
  const tail = text
    .trimEnd()
    .slice(-SHORT_CHARS / 2)
    .toWellFormed()
  return tail.replace(/\s+/g, ' ').trim()
}
