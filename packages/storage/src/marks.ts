/** Tags with a meaning: a pinned session comes first in lists and is never pruned, an archived one is in no list but its own. */
export const MARKS = { pinned: 'pinned', archived: 'archived' } as const
