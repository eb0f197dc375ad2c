import { HermesError } from '@hermes/contracts'

const MAX_CHARS = 100

/**
 * A title as it is stored: one line, nothing invisible; `null` when nothing is left.
 * @throws HermesError `store.bad_title` when it is longer than 100 characters.
 */
export function cleanTitle(title: string): string | null {
  const clean = visible(title)
  const length = [...clean].length
  if (length > MAX_CHARS) {
    throw new HermesError(`A title has at most ${MAX_CHARS} characters, this one has ${length}; shorten it.`, {
      code: 'store.bad_title',
      details: { length, max: MAX_CHARS },
    })
  }
  return clean === '' ? null : clean
}

/** White space becomes a blank; control characters, zero-width and direction marks go. */
function visible(title: string): string {
  return title
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu, '')
    .trim()
}

/** The common part and the number of a title: `Fix it #3` is number 3 of `Fix it`, and `Fix it` its number 1. */
export function splitTitle(title: string): { readonly base: string; readonly number: number } {
  const [, base, digits] = /^(.+) #([1-9]\d{0,8})$/u.exec(title) ?? []
  return base === undefined ? { base: title, number: 1 } : { base, number: Number(digits) }
}

/** Whether a title is `base` or one of its numbers. */
export function isOfLineage(title: string | null, base: string): boolean {
  return title !== null && (title === base || splitTitle(title).base === base)
}

/** Number `number` of a lineage; the base gives way where both do not fit. */
export function numberedTitle(base: string, number: number): string {
  const suffix = ` #${number}`
  return `${[...base]
    .slice(0, MAX_CHARS - suffix.length)
    .join('')
    .trimEnd()}${suffix}`
}
