const MAX_DIFF_CHARS = 10_000
/** The time a diff takes grows with the square of this many changed lines. */
const MAX_DIFF_EDITS = 1000

/** What changed in a file, with three lines around; capped. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const options = { context: 3, maxEditLength: MAX_DIFF_EDITS, headerOptions: FILE_HEADERS_ONLY }
  const diff = createTwoFilesPatch(path, path, before, after, undefined, undefined, options)
  if (diff === undefined) return `Changed ${path}; the diff is too long to show.`
  return diff.length <= MAX_DIFF_CHARS
    ? diff.trimEnd()
    : `${diff.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[… ${diff.length - MAX_DIFF_CHARS} more characters of diff]`
}
