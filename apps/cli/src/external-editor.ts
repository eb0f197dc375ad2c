import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { editorOf, runEditor } from './commands/run-editor.js'
import { describeFailure } from './errors.js'
import type { Io } from './io.js'

/** What came of editing; `problem` is a line about an editor that did not work, and the text is as it was then. */
interface Edited {
  readonly text: string
  readonly problem: string | null
}

/** No person has read a text and left it as it was by then. */
const AT_ONCE_MS = 500

/** Shows a text in the person's editor, which has the terminal meanwhile, in a file that only they can read. Never rejects. */
export async function editText(io: Io, text: string): Promise<Edited> {
  const editor = editorOf(io) ?? 'vi'
  try {
    const folder = await mkdtemp(join(io.tempDir, 'hermes-edit-'))
    const file = join(folder, 'message.md')
    try {
      await writeFile(file, text, { mode: 0o600 })
      const startedMs = performance.now()
      await runEditor(editor, file)
      const edited = await readFile(file, 'utf8')
      const isAtOnce = edited === text && performance.now() - startedMs < AT_ONCE_MS
      const problem = `The editor (${editor}) returned at once and nothing was changed. One with windows needs to wait: VISUAL="code --wait".`
      return { text: edited.trimEnd(), problem: isAtOnce ? problem : null }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  } catch (error) {
    return { text, problem: describeFailure(error).line }
  }
}
