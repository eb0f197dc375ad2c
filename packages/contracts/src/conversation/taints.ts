import type { Entry, NewEntry } from './entry.js'
import type { ImagePart, Message, TextPart } from './message.js'
import { type Provenance, plain, settle, sourceNames, type TextSource } from './text-source.js'

const UNKNOWN = 'text from outside'
/** Layers of a system text that others may have written: of sessions from before sources were noted they taint. */
const WRITTEN_OUTSIDE: readonly string[] = ['project', 'memory', 'skills']

/**
 * What of an entry taints its session, by names for a person; nothing for most. What says nothing of its sources is taken to taint, and so
 * is everything from outside in a log of before sources were noted.
 */
export function taintsIn(entry: NewEntry | Entry): readonly string[] {
  if (entry.type === 'message') return entry.message.content.flatMap(taintsOfPart)
  if (entry.type !== 'prompt') return []
  return (entry.layers ?? []).flatMap(({ name, source, sources, taints }) => {
    if (!WRITTEN_OUTSIDE.includes(name) || taints === false) return []
    return sources ? sources.flatMap(sourceNames) : [plain(source)]
  })
}

/** What of a part taints; see {@link taintsIn}. */
export function taintsOfPart(part: Message['content'][number]): readonly string[] {
  if (part.type === 'reasoning' || part.type === 'tool-call' || part.taints === false) return []
  if (part.sources !== undefined) return part.sources.flatMap(sourceNames)
  if (part.origin === 'memory') return ['what was recalled']
  return part.origin === 'external' ? [UNKNOWN] : []
}

/** A part as it goes into a log; see {@link settle}. */
export function settlePart<Part extends Message['content'][number]>(
  part: Part,
  isTrusted: (folder: string) => boolean,
): Part {
  if (!('sources' in part) && !('taints' in part)) return part
  return settle(part as Part & Provenance, isTrusted)
}

/** The sources of several parts together; `null` where one of those from outside says none. */
export function sourcesOf(parts: readonly (TextPart | ImagePart)[]): readonly TextSource[] | null {
  const outside = parts.filter(({ origin }) => origin === 'external')
  if (outside.some(({ sources }) => sources === undefined)) return null
  const known = new Map(
    outside.flatMap(({ sources = [] }) => sources).map((source) => [JSON.stringify(source), source]),
  )
  return [...known.values()]
}
