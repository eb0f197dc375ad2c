import { findSession } from '@hermes/commands'
import { toolCalls } from '@hermes/contracts/conversation'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'
import { undoLine } from '../sessions/export-session.js'
import { shownText } from '../sessions/shown-text.js'

/** `hermes sessions show`: what was said and done, in order. */
export async function showSession(io: Io, name: string, options: { readonly json?: boolean }): Promise<number> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const style = createStyle(io.stdout)
    const entries = await storage.log.entries(session.id)
    for (const entry of entries) {
      if (options.json) io.stdout.write(`${JSON.stringify(entry)}\n`)
      else if (entry.type === 'message') {
        const { message } = entry
        const label = message.role === 'tool' ? `tool ${printable(message.toolName)}` : message.role
        const calls = toolCalls(message).map((call) =>
          style.cyan(clip(`→ ${call.name} ${call.rawArgs}`, io.stdout.columns())),
        )
        const text = io.stdout.isTTY ? printable(shownText(message)) : shownText(message)
        const body = [text.trimEnd(), ...calls].filter((part) => part !== '').join('\n')
        io.stdout.write(`${style.bold(label)} ${style.dim(`#${entry.seq}`)}\n${body}\n\n`)
      } else if (entry.type === 'undo') io.stdout.write(`${style.yellow(undoLine(entries, entry))}\n\n`)
    }
    return EXIT.ok
  })
}
