import type { TextSource } from '@hermes/contracts/conversation'
import type { ToolState } from '@hermes/contracts/tool'

const LIMIT = 1_000

/** Files that a session made itself, in folders that nobody vouches for, with where their text came from. */
interface OwnFiles {
  /** `real` is what it is now because of the session, whatever was there before. */
  note(real: string, version: string, sources: readonly TextSource[]): void
  /** `undefined` for a file that it did not make, or that is another one since. */
  sourcesOf(real: string, version: string): readonly TextSource[] | undefined
}

/** Gone when the process ends: then such a file counts by its folder. */
export const ownFiles = (state: ToolState): OwnFiles =>
  state.scratch('files.own', () => {
    const known = new Map<string, { readonly version: string; readonly sources: readonly TextSource[] }>()
    return {
      note(real, version, sources) {
        known.delete(real)
        known.set(real, { version, sources })
        if (known.size > LIMIT) known.delete(known.keys().next().value!)
      },
      sourcesOf(real, version) {
        const found = known.get(real)
        return found?.version === version ? found.sources : undefined
      },
    }
  })
