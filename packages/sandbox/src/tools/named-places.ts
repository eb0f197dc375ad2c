import { isAbsolute, relative } from 'node:path'
import type { TextSource } from '@hermes/contracts/conversation'
import type { ToolContext } from '@hermes/contracts/tool'
import { ownFiles } from '../own-files.js'

const MOST_PLACES = 20
/** A text of a program that is written like a place; of one that is put together, its beginning. */
const PLACE = /(['"`])((?:~|\.\.)(?:\/[^'"`\n{$]{0,300})?|\/[^'"`\n{$]{1,300})/g
/** Where the home of the person is looked up. */
const HOME = /\b(?:expanduser|Path\.home|homedir)\b|\b(?:environ|env)\b.{0,12}\bHOME\b/

/**
 * Where the text comes from of places beyond its folder that a program names and that are there before it runs. `settle` is called when it
 * has ended: what it made there is the session's own from then on.
 */
export async function namedPlaces(
  code: string,
  cwd: string,
  { environment, state }: Pick<ToolContext, 'environment' | 'state'>,
): Promise<{ readonly sources: readonly TextSource[]; settle(sources: readonly TextSource[]): Promise<void> }> {
  if (environment.backend !== 'local') return { sources: [], settle: async () => undefined }
  const written = [...code.matchAll(PLACE)].map(([, , text = '']) => text.trimEnd())
  const named = [...new Set([...written, ...(HOME.test(code) ? ['~'] : [])])].slice(0, MOST_PLACES)
  const places = named.map((text) => environment.resolve(text.startsWith('..') ? `${cwd}/${text}` : text))
  const beyond = places.filter((path) => isBeyond(path, cwd) && !path.startsWith('/dev/'))
  const sources: TextSource[] = []
  const made: string[] = []
  for (const path of beyond) {
    const real = await environment.realpath(path).catch(() => path)
    const stat = await environment.stat(real).catch(() => null)
    const own = stat && ownFiles(state).sourcesOf(real, stat.version)
    if (stat === null || own) made.push(real)
    if (stat !== null) sources.push(...(own ?? [{ type: 'file', path: real } as const]))
  }
  return {
    sources,
    async settle(all) {
      for (const path of made) {
        const stat = await environment.stat(path).catch(() => null)
        if (stat?.type === 'file') ownFiles(state).note(path, stat.version, all)
      }
    },
  }
}

function isBeyond(path: string, folder: string): boolean {
  const inside = relative(folder, path)
  return path !== '/' && (inside.startsWith('..') || isAbsolute(inside))
}
