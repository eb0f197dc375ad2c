import { existsSync } from 'node:fs'
import type { Storage } from './storage.js'

/** One conversation that was looked at. */
export type ImportResult =
  | {
      readonly type: 'imported'
      readonly sessionId: string
      readonly source: string
      readonly messages: number
      readonly file: string
    }
  /** It was imported before, or a session of ours has that id. */
  | { readonly type: 'present'; readonly sessionId: string; readonly file: string }
  | { readonly type: 'problem'; readonly file: string; readonly problem: string }

/**
 * Brings in conversations of other programs, and of older versions: Claude Code (`~/.claude/projects`), Codex (`~/.codex/sessions`),
 * opencode (`~/.local/share/opencode`), JSON lines of chat messages, our own exports and a `state.db` of ours of any version. `path` is a file or a
 * folder with any number of them; what they are is found out. Nothing there is changed, and nothing is imported twice. Yields one result for each as it
 * is done; leaving the loop stops.
 * @throws HermesError `import.not_found`.
 */
export async function* importSessions(storage: Storage, path: string): AsyncGenerator<ImportResult> {
  const { findTranscripts } = await import('./import/find-transcripts.js')
  const { writeTranscript } = await import('./import/write-transcript.js')
  // Before it is read: what comes while that lasts is said the next time.
  const note = path.endsWith('.db') && existsSync(path) ? await noteOf(path) : null
  let isWhole = true
  for await (const found of findTranscripts(path)) {
    const result =
      found.type === 'problem' ? found : { ...(await writeTranscript(storage, found.transcript)), file: found.file }
    isWhole &&= result.type !== 'problem'
    yield result
  }
  if (note && isWhole) await storage.meta.set(note.key, note.value)
}

/** What is noted of a database that a newer program made; one that cannot be read is a problem that reading it names. */
async function noteOf(path: string) {
  const { noteOfNewer } = await import('./import/own-database.js')
  try {
    return noteOfNewer(path)
  } catch {
    return null
  }
}
