/**
 * Tags with a meaning, which nobody gives by chance: a pinned session comes first in lists and is never pruned, an archived one is in no list
 * but its own.
 */
export const MARKS = { pinned: 'hermes:pinned', archived: 'hermes:archived' } as const

/** Whether a tag is one of these. */
export const isMark = (tag: string): boolean => Object.values<string>(MARKS).includes(tag)
