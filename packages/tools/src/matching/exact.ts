import type { Range, Strategy } from './strategy.js'

/** All places of `search`, not overlapping. */
export function findExact(text: string, search: string): readonly Range[] {
  const ranges: Range[] = []
  for (let start = text.indexOf(search); start !== -1; start = text.indexOf(search, start + search.length))
    ranges.push({ start, end: start + search.length })
  return ranges
}

/** Letter by letter. */
export const exact: Strategy = { name: 'exact', find: findExact, adapt: ({ replacement }) => replacement }
