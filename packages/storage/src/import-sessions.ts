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
 * opencode (`~/.local/share/opencode`), JSON lines of chat messages, our own exports and a `state.db` of ours. `path` is a file or a
 * folder with any number of them; what they are is found out. Nothing there is changed, and nothing is imported twice. Yields one result for each as it
 * is done; leaving the loop stops.
 * @throws HermesError `import.not_found`.
 */
export async function* importSessions(storage: Storage, path: string): AsyncGenerator<ImportResult> {
  const { findTranscripts } = await import('./import/find-transcripts.js')
  const { writeTranscript } = await import('./import/write-transcript.js')
  for await (const found of findTranscripts(path)) {
    if (found.type === 'problem') yield found
    else yield { ...(await writeTranscript(storage, found.transcript)), file: found.file }
  }
}
