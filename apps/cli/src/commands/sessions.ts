import { toolCalls } from '@hermes/contracts/conversation'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'
import { findSession } from '../session-choice.js'
import { shownText } from '../sessions/shown-text.js'
import { undoLine } from '../sessions/undo-line.js'

/** `hermes sessions list`: newest first. */
export async function listSessions(
  io: Io,
  options: { readonly limit: number; readonly source?: string; readonly tag?: string; readonly json?: boolean },
): Promise<number> {
  if (!Number.isInteger(options.limit) || options.limit < 1)
    throw new UsageError('--limit takes a whole number of at least 1.')
  return withStorage(io, async (storage) => {
    const { limit, source, tag } = options
    const filter = { ...(source === undefined ? {} : { source }), ...(tag === undefined ? {} : { tag }) }
    const sessions = await storage.sessions.list({ limit, ...filter })
    const style = createStyle(io.stdout)
    if (sessions.length === 0 && !options.json) io.stderr.write(noSessions(filter))
    for (const session of sessions) {
      if (options.json) io.stdout.write(`${JSON.stringify(session)}\n`)
      else {
        const when = new Date(session.lastActiveAtMs).toISOString().slice(0, 16).replace('T', ' ')
        const head = `${session.id}  ${when}  ${String(session.messageCount).padStart(4)} messages  `
        const what = clip(session.title ?? session.preview, Math.max(io.stdout.columns() - head.length, 20))
        io.stdout.write(`${style.bold(session.id)}${style.dim(head.slice(session.id.length))}${what}\n`)
      }
    }
    return EXIT.ok
  })
}

function noSessions({ source, tag }: { readonly source?: string; readonly tag?: string }): string {
  if (source === undefined && tag === undefined) return 'No sessions yet. Start one with: hermes\n'
  return `No sessions${source === undefined ? '' : ` from ${source}`}${tag === undefined ? '' : ` with the tag ${tag}`}.\n`
}

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
