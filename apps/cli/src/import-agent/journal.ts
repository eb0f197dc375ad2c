import { createHash } from 'node:crypto'
import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'

/** One import, as it is kept to be undone. */
interface Journal {
  /** Of the agent that it came from. */
  readonly from: string
  readonly files: readonly JournalFile[]
}

interface JournalFile {
  /** In the home. */
  readonly path: string
  /** Whether it was there before; its bytes are beside the journal then. */
  readonly wasThere: boolean
  /** SHA-256 of what the import wrote. */
  readonly sha256: string
}

const NAME = 'import.json'

/** What taking an import back came to; paths in the home. */
interface UndoneImport {
  readonly from: string
  readonly restored: readonly string[]
  /** Changed by somebody since: left as they are. */
  readonly changed: readonly string[]
}

/** Writes files into the home, once what they were is kept in its folder of backups. Gives the name of the journal. */
export async function writeImport(
  home: string,
  {
    from,
    files,
    nowMs,
  }: { readonly from: string; readonly files: ReadonlyMap<string, Buffer>; readonly nowMs: number },
): Promise<string> {
  const id = new Date(nowMs).toISOString().replace(/[:.]/g, '-')
  const folder = join(journals(home), id)
  const entries: JournalFile[] = []
  for (const [path, bytes] of files) {
    const before = await readFile(join(home, path)).catch(() => null)
    if (before !== null) await writePrivate(join(folder, 'files', path), before)
    entries.push({ path, wasThere: before !== null, sha256: hashOf(bytes) })
  }
  const journal: Journal = { from, files: entries }
  // First, so that an import that is cut off can be undone too.
  await writePrivate(join(folder, NAME), JSON.stringify(journal, null, 2))
  for (const [path, bytes] of files) await writePrivate(join(home, path), bytes)
  return id
}

/** Takes the newest import back; `null` where there is none. What somebody changed since stays, unless `force`. */
export async function undoImport(home: string, { force }: { readonly force: boolean }): Promise<UndoneImport | null> {
  const names = (await readdir(journals(home)).catch(() => [])).sort()
  const id = names.at(-1)
  if (id === undefined) return null
  const folder = join(journals(home), id)
  const journal = JSON.parse(await readFile(join(folder, NAME), 'utf8')) as Journal
  if (!isJsonObject(journal) || !Array.isArray(journal.files)) return null
  const states = await Promise.all(
    journal.files.map(async (file) => {
      const now = await readFile(join(home, file.path)).catch(() => null)
      const before = file.wasThere ? await readFile(join(folder, 'files', file.path)) : null
      const isAsBefore = now === null ? before === null : before !== null && now.equals(before)
      return { ...file, before, isOurs: force || isAsBefore || (now !== null && hashOf(now) === file.sha256) }
    }),
  )
  const ours = states.filter(({ isOurs }) => isOurs)
  for (const { path, before } of ours) {
    if (before !== null) await writePrivate(join(home, path), before)
    else await removeFile(home, path)
  }
  const changed = states.filter(({ isOurs }) => !isOurs).map(({ path }) => path)
  if (changed.length === 0) await rm(folder, { recursive: true })
  return { from: journal.from, restored: ours.map(({ path }) => path), changed }
}

/** With the folders above it that are empty then. */
async function removeFile(home: string, path: string): Promise<void> {
  await rm(join(home, path), { force: true })
  for (let folder = dirname(join(home, path)); folder !== home; folder = dirname(folder)) {
    const isEmpty = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isEmpty) return
  }
}

function journals(home: string): string {
  return join(homeLayout(home).backups, 'imports')
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
