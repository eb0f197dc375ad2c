import { setImmediate as nextTick } from 'node:timers/promises'
import { type IndexedMessage, indexWords, partsOfNames } from './index-text.js'
import type { AnyTerm } from './search-query.js'

/** Of a word the newest messages that have it are looked at. Where there are more it tells little, and others decide. */
export const HITS_PER_WORD = 3_000
/** So many of the best are read. */
const MAX_READ = 300
/** Of a message its beginning is read; what else is in it the index knows. */
export const MAX_CHARS_READ = 4_000
/** So long others wait for their turn while messages are ranked. */
const SLICE_MS = 8
const CHARS_PER_WORD = 6
/** BM25, as usual. */
const [K1, B] = [1.2, 0.75]

/** A word of a query and the messages that have it, the newest first. */
export interface TermHits {
  readonly term: AnyTerm
  readonly ids: readonly number[]
  /** About how many messages have it, where that is known and `ids` leaves them out. Default: as `ids` says. */
  readonly count?: number
}

/** What is read of a message. */
export interface ReadMessage extends Pick<IndexedMessage, 'content' | 'tool_name' | 'tool_calls'> {
  readonly id: number
  /** Of all texts, where only their beginnings were read. Default: of what was read. */
  readonly chars?: number
}

interface Counted {
  readonly id: number
  readonly counts: readonly number[]
  /** In words. */
  readonly length: number
}

/** Finds the messages that have the most of some words, rare words before common ones. */
export class AnyWords {
  readonly #terms: readonly (TermHits & { readonly weight: number; readonly has: ReadonlySet<number> })[]

  readonly #places: ReadonlyMap<string, number>

  /** `range`: the ids that were searched, both ends included. */
  constructor(hits: readonly TermHits[], range: { readonly low: number; readonly high: number }) {
    const all = range.high - range.low + 1
    this.#terms = hits.map((one) => {
      const { ids } = one
      // Where there are more, as many as there would be if the older ones had it as often as the newest.
      const share = ids.length < HITS_PER_WORD ? 1 : all / (range.high - ids.at(-1)! + 1)
      const count = Math.min(all, one.count ?? ids.length * share)
      return { ...one, has: new Set(ids), weight: Math.log(1 + (all - count + 0.5) / (count + 0.5)) }
    })
    this.#places = new Map(hits.flatMap(({ term }, at) => term.forms.map((form) => [form, at])))
  }

  /** Those worth reading, for {@link rank}. */
  candidates(): readonly number[] {
    const scores = new Map<number, number>()
    for (const { ids, weight } of this.#terms) for (const id of ids) scores.set(id, (scores.get(id) ?? 0) + weight)
    return [...scores]
      .sort(([leftId, left], [rightId, right]) => right - left || rightId - leftId)
      .slice(0, MAX_READ)
      .map(([id]) => id)
  }

  /** The ids of `messages`, the best first. Others get their turn meanwhile. */
  async rank(messages: readonly ReadMessage[]): Promise<readonly number[]> {
    const read: Counted[] = []
    let fromMs = performance.now()
    for (const message of messages) {
      read.push({ id: message.id, ...this.#count(message) })
      if (performance.now() - fromMs < SLICE_MS) continue
      await nextTick()
      fromMs = performance.now()
    }
    const usual = read.reduce((sum, { length }) => sum + length, 0) / Math.max(1, read.length)
    const scored = read.map(({ id, counts, length }) => {
      const size = K1 * (1 - B + (B * length) / Math.max(1, usual))
      const score = this.#terms.reduce(
        (sum, { weight }, at) => sum + (weight * counts[at]! * (K1 + 1)) / (counts[at]! + size),
        0,
      )
      return { id, score }
    })
    return scored.sort((left, right) => right.score - left.score || right.id - left.id).map(({ id }) => id)
  }

  /** How often each word is in a message. */
  #count({ id, content, tool_name, tool_calls, chars }: ReadMessage): Omit<Counted, 'id'> {
    const text = [content, tool_name, tool_calls].filter(Boolean).join('\n')
    const beginning = text.slice(0, MAX_CHARS_READ)
    const counts = this.#terms.map(({ has }) => (has.has(id) ? 1 : 0))
    const seen = this.#terms.map(() => 0)
    for (const word of indexWords(`${beginning} ${partsOfNames(beginning).join(' ')}`)) {
      const at = this.#places.get(word)
      if (at !== undefined) seen[at]!++
    }
    return {
      counts: counts.map((count, at) => Math.max(count, seen[at]!)),
      length: (chars ?? text.length) / CHARS_PER_WORD,
    }
  }
}
