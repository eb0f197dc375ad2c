import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ImportResult, importSessions } from '@hermes/storage'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, withStorage } from '../open-cli.js'
import { printable } from '../render/style.js'

/** Flags of `hermes sessions import` and `hermes migrate-sessions`. */
interface ImportFlags {
  readonly json?: boolean
}

/** `hermes sessions import PATH`: one line for each conversation. Exit code 1 when a file could not be understood. */
export async function importFrom(io: Io, path: string, { json }: ImportFlags): Promise<number> {
  return withStorage(io, async (storage) => {
    const counts = { imported: 0, present: 0, problem: 0 }
    for await (const result of importSessions(storage, resolve(io.cwd, path))) {
      counts[result.type]++
      if (json) io.stdout.write(`${JSON.stringify(result)}\n`)
      else tell(io, result)
    }
    const { imported, present, problem } = counts
    if (imported + present + problem === 0) io.stderr.write(`No conversations in ${path}.\n`)
    else if (!json) io.stderr.write(`${imported} imported, ${present} there already, ${problem} not understood.\n`)
    return problem > 0 ? EXIT.failed : EXIT.ok
  })
}

/** `hermes migrate-sessions [FOLDER]`: the files stay. */
export async function migrateSessions(io: Io, folder: string | undefined, flags: ImportFlags): Promise<number> {
  const path = folder ?? join(homeOf(io), 'sessions')
  if (folder === undefined && !existsSync(path)) {
    io.stderr.write(`No older version kept transcripts here: ${path} does not exist.\n`)
    return EXIT.ok
  }
  return importFrom(io, path, flags)
}

function tell(io: Io, result: ImportResult): void {
  switch (result.type) {
    case 'imported':
      io.stdout.write(`${result.sessionId}  ${result.messages} messages from ${printable(result.file)}\n`)
      return
    case 'problem':
      io.stderr.write(`${printable(result.problem)}\n`)
      return
    case 'present':
      return
    default:
      result satisfies never
  }
}
