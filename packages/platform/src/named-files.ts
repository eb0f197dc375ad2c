// Files that an answer names so that they are sent: `MEDIA:` tags, pictures in Markdown, and lines that are nothing but a path.
const MAX_FILES = 10
const MAX_PATH_CHARS = 1_000
const TAG = /MEDIA:(?:"([^"\n]{1,1000})"|`([^`\n]{1,1000})`|(\S{1,1000}))/g
const PICTURE = /!\[([^\]\n]{0,300})\]\((?:file:\/\/)?(\/[^)\n]{1,1000})\)/g
const BARE =
  /^[`"']?(\/[^\n`"']{1,1000}\.(?:png|jpe?g|gif|webp|svg|pdf|mp3|ogg|opus|wav|m4a|mp4|mov|webm|zip|csv|tsv|xlsx|docx|pptx|odt|epub))[`"']?$/i
const FENCE = /^ {0,3}(?:`{3}|~{3})/
/** Neither a fence nor what names a file is shorter. */
const SHORTEST_LINE = 3

/** An answer without what names its files, and their absolute paths. */
interface NamedFiles {
  readonly text: string
  readonly paths: readonly string[]
}

/** Nothing within a block of code counts. Of more than ten files the further ones are left out, with their names. */
export function namedFiles(answer: string): NamedFiles {
  const paths: string[] = []
  const take = (path: string, instead: string, whole: string) => {
    const clean = path.replace(/[.,;:!?)\]]+$/, '')
    if (!clean.startsWith('/') || clean.length > MAX_PATH_CHARS) return whole
    if (!paths.includes(clean) && paths.length < MAX_FILES) paths.push(clean)
    return instead
  }
  let isCode = false
  const lines: string[] = []
  for (const line of answer.split('\n')) {
    if (line.length >= SHORTEST_LINE && FENCE.test(line)) isCode = !isCode
    const left = isCode || line.length < SHORTEST_LINE ? line : withoutFiles(line, take)
    if (left !== null) lines.push(left)
  }
  return paths.length === 0 ? { text: answer, paths } : { text: lines.join('\n').trim(), paths }
}

/** What is left of a line; `null` where it was nothing but files. */
function withoutFiles(line: string, take: (path: string, instead: string, whole: string) => string): string | null {
  const bare = BARE.exec(line.trim().slice(0, MAX_PATH_CHARS + 20))?.[1]
  if (bare !== undefined) {
    take(bare, '', line)
    return null
  }
  if (!line.includes('MEDIA:') && !line.includes('](')) return line
  const left = line
    .replaceAll(TAG, (whole, quoted?: string, ticked?: string, plain?: string) =>
      take(quoted ?? ticked ?? plain ?? '', '', whole),
    )
    .replaceAll(PICTURE, (whole, alt: string, path: string) => take(path, alt, whole))
  return left.trim() === '' && line.trim() !== '' ? null : left.trimEnd()
}
