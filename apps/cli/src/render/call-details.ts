import type { JsonObject } from '@hermes/contracts'
import { type Entry, liveEntries, type ToolCallPart, type ToolMessage, toolCalls } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import { createStyle, printable } from './style.js'

/** All of a call of the session, the newest being 1: its arguments and its result as the model got it. `null` where there are not so many. */
export function renderDetails(entries: readonly Entry[], call: number, output: Output): string | null {
  const style = createStyle(output)
  const messages = liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
  const calls = messages.flatMap((message) => toolCalls(message))
  const found = calls.at(-call)
  if (!found) return null
  const result = messages.findLast(
    (message): message is ToolMessage => message.role === 'tool' && message.callId === found.id,
  )
  const state = result === undefined ? ' · no result yet' : result.isError ? ' · failed' : ''
  const lines = [
    `${style.accent(printable(found.name))}${style.dim(` · ${call} of ${calls.length}, newest first${state}`)}`,
    ...argumentLines(found).map(([name, text]) => `${style.dim(name)} ${text}`),
    ...(result === undefined ? [] : [style.dim('result'), ...resultLines(result)]),
  ]
  return `${lines.join('\n')}\n`
}

/** What cannot be read as an object is shown as it came. */
function argumentLines({ args, rawArgs }: ToolCallPart): readonly (readonly [name: string, text: string])[] {
  if (args === null) return [['arguments', printable(rawArgs)]]
  return Object.entries(args as JsonObject).map(([name, value]) => {
    const text = printable(typeof value === 'string' ? value : JSON.stringify(value)).trimEnd()
    return [printable(name), text.includes('\n') ? `\n${indented(text)}` : text]
  })
}

function resultLines({ content }: ToolMessage): readonly string[] {
  return content.map((part) => indented(part.type === 'text' ? printable(part.text).trimEnd() : `[${part.type}]`))
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ')
}
