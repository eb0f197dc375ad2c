import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { joinEntries, type MemoryChange, parseEntries } from '@hermes/memory'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { editorOf, runEditor } from './run-editor.js'

/**
 * Shows entries in the person's editor, `$VISUAL` or `$EDITOR`, and gives the changes that were made there. What others change meanwhile
 * is none of them. @throws UsageError when the editor cannot be started or fails; nothing is to be changed then.
 */
export async function editEntries(io: Io, entries: readonly string[], name: string): Promise<readonly MemoryChange[]> {
  const editor = editorOf(io)
  if (editor === null)
    throw new UsageError(
      'There is no terminal for an editor here. Name the entry and its new text: hermes memory edit WORDS TEXT.',
    )
  const folder = await mkdtemp(join(io.tempDir, 'hermes-memory-'))
  const file = join(folder, name)
  try {
    await writeFile(file, `${joinEntries(entries)}\n`, { mode: 0o600 })
    await runEditor(editor, file)
    return changesBetween(entries, parseEntries(await readFile(file, 'utf8')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function changesBetween(before: readonly string[], after: readonly string[]): readonly MemoryChange[] {
  const gone = before.filter((entry) => !after.includes(entry))
  const come = after.filter((entry) => !before.includes(entry))
  return [
    ...come.map((content, index): MemoryChange => {
      const oldText = gone[index]
      return oldText === undefined ? { action: 'add', content } : { action: 'replace', oldText, content }
    }),
    ...gone.slice(come.length).map((oldText): MemoryChange => ({ action: 'remove', oldText })),
  ]
}
