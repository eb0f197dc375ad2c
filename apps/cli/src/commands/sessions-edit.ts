import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine } from '@hermes/contracts'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { findSession } from '../session-choice.js'
import { exportJsonl, exportMarkdown } from '../sessions/export-session.js'

/** `hermes sessions rename NAME TITLE`. */
export async function renameSession(io: Io, name: string, title: string): Promise<number> {
  if (title.trim() === '') throw new UsageError('The new title is empty.')
  return withStorage(io, async (storage) => {
    const { id } = await findSession(storage, name)
    await storage.updateSession(id, { title })
    io.stdout.write(`${id} is now called ${(await storage.getSession(id))?.title}\n`)
    return EXIT.ok
  })
}

const FORMATS = { jsonl: exportJsonl, md: exportMarkdown } as const

/** Flags of `hermes sessions export`. */
export interface ExportFlags {
  readonly format: keyof typeof FORMATS
  readonly output?: string
}

/** `hermes sessions export NAME`: to standard output, or to a file that must not be there yet. */
export async function exportSession(io: Io, name: string, { format, output }: ExportFlags): Promise<number> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const text = FORMATS[format]({ session, entries: await storage.entries(session.id) })
    if (output === undefined) io.stdout.write(text)
    else {
      await save(resolve(io.cwd, output), text)
      io.stderr.write(`Written to ${resolve(io.cwd, output)}\n`)
    }
    return EXIT.ok
  })
}

async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(`${file} is there already; name another file, or remove it first.`)
    throw new UsageError(`${file} cannot be written: ${errorLine(error)}`)
  }
}

/** `hermes sessions delete NAME`: asks, unless told not to. */
export async function deleteSession(io: Io, name: string, { yes }: { readonly yes?: boolean }): Promise<number> {
  return withStorage(io, async (storage) => {
    const session = await findSession(storage, name)
    const what = `${session.id} (${session.title ?? session.preview}, ${session.messageCount} messages)`
    if (!yes && !(await confirm(io, `Delete ${what}? It cannot be brought back.`, 'yes, delete it'))) {
      io.stderr.write('Nothing was deleted.\n')
      return EXIT.failed
    }
    await storage.deleteSession(session.id)
    io.stdout.write(`Deleted ${session.id}\n`)
    return EXIT.ok
  })
}
