import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findSession } from '@hermes/commands'
import { errorLine } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { exportHtml } from '../sessions/export-html.js'
import { type ExportedSession, exportJson, exportJsonl, exportMarkdown } from '../sessions/export-session.js'

const FORMATS = { jsonl: exportJsonl, json: exportJson, md: exportMarkdown, html: exportHtml } as const

/** Flags of `hermes sessions export`. */
interface ExportFlags {
  readonly format: keyof typeof FORMATS
  readonly all?: boolean
  readonly output?: string
}

/** `hermes sessions export NAME` or `--all`: to standard output, or to a file that must not be there yet. */
export async function exportSessions(io: Io, name: string | undefined, flags: ExportFlags): Promise<number> {
  const { format, all, output } = flags
  if ((name === undefined) !== (all ?? false)) throw new UsageError('Name one session to export, or say --all.')
  if (all && format !== 'jsonl') throw new UsageError('--all writes JSON lines; other formats take one session.')
  return withStorage(io, async (storage) => {
    const file = output === undefined ? null : await newFile(resolve(io.cwd, output))
    for await (const text of name === undefined ? everything(storage) : [await one(storage, name, format)]) {
      if (file === null) io.stdout.write(text)
      else await writeFile(file, text, { flag: 'a' })
    }
    if (file !== null) io.stderr.write(`Written to ${file}\n`)
    return EXIT.ok
  })
}

async function one(storage: Storage, name: string, format: ExportFlags['format']): Promise<string> {
  return FORMATS[format](await whole(storage, await findSession(storage, name)))
}

/** Also what agents started for themselves; the oldest first, so that an import meets parents before their children. */
async function* everything(storage: Storage): AsyncGenerator<string> {
  const all = { limit: Number.MAX_SAFE_INTEGER, includeEmpty: true, includeArchived: true }
  const sessions = [
    ...(await storage.sessions.list(all)),
    ...(await storage.sessions.list({ ...all, source: 'subagent' })),
  ]
  sessions.sort((left, right) => left.startedAtMs - right.startedAtMs)
  for (const session of sessions) yield exportJsonl(await whole(storage, session))
}

async function whole(storage: Storage, session: SessionInfo): Promise<ExportedSession> {
  const tags = await storage.sessions.tags(session.id)
  return { session: tags.length === 0 ? session : { ...session, tags }, entries: await storage.log.entries(session.id) }
}

async function newFile(file: string): Promise<string> {
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 })
    return file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(`${file} is there already; name another file, or remove it first.`)
    throw new UsageError(`${file} cannot be written: ${errorLine(error)}`)
  }
}
