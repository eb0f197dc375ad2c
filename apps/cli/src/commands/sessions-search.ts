import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { createStyle, printable, type Style, wrap } from '../render/style.js'

/** Flags of `hermes sessions search`. */
export interface SearchFlags {
  readonly limit: number
  readonly json?: boolean
}

/** `hermes sessions search WORDS`: messages that hold them, best first, the words marked. Exit code 1 when there are none. */
export async function searchSessions(io: Io, query: string, { limit, json }: SearchFlags): Promise<number> {
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new UsageError('--limit takes a whole number from 1 to 100.')
  return withStorage(io, async (storage) => {
    const hits = await storage.search(query, { limit })
    const style = createStyle(io.stdout)
    for (const hit of hits) {
      if (json) io.stdout.write(`${JSON.stringify(hit)}\n`)
      else {
        const when = new Date(hit.atMs).toISOString().slice(0, 16).replace('T', ' ')
        const title = hit.title ? `  ${printable(hit.title)}` : ''
        io.stdout.write(`${style.bold(hit.sessionId)}${style.dim(`  ${when}  ${hit.role} #${hit.seq}`)}${title}\n`)
        io.stdout.write(`${highlight(hit.snippet, io.stdout.columns(), style)}\n\n`)
      }
    }
    if (hits.length === 0) io.stderr.write(`Nothing was found for "${query}".\n`)
    return hits.length === 0 ? EXIT.failed : EXIT.ok
  })
}

/** The words found stand between marks; colours come after the lines are broken. */
function highlight(snippet: string, columns: number, style: Style): string {
  const lines = wrap(printable(snippet).replace(/\s+/g, ' ').trim(), Math.max(20, columns - 2))
  const marked = lines.replace(/>>>(.*?)<<</gs, (_, words: string) =>
    words
      .split('\n')
      .map((word) => style.yellow(word))
      .join('\n'),
  )
  return marked.replace(/^/gm, '  ')
}
