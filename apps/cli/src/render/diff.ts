import { clip, type Style } from './style.js'

const MAX_LINES = 40

/** Unified diffs for a person: added lines green, removed ones red, at most 40. Files are named where there are several. */
export function renderDiff(
  diff: string,
  { style, columns }: { readonly style: Style; readonly columns: number },
): string {
  const lines = diff.trimEnd().split('\n')
  const heads = lines.filter((line, index) => isHead(line, lines[index + 1])).length
  const body = lines.flatMap((line, index) => {
    if (isHead(line, lines[index + 1])) return []
    if (!isHead(lines[index - 1] ?? '', line)) return [paint(line, style)(`  ${clip(line, columns - 2)}`)]
    return heads > 1 ? [style.bold(`  ${clip(line.slice(4), columns - 2)}`)] : []
  })
  const shown = body.length > MAX_LINES + 1 ? MAX_LINES : body.length
  const more = body.length > shown ? [style.dim(`  … ${body.length - shown} more lines`)] : []
  return [...body.slice(0, shown), ...more].join('\n')
}

/** What git says of changes, in colour; its lines stay as they are, so that copying them gives a patch. */
export function paintDiff(diff: string, style: Style): string {
  const colour = (line: string, index: number, lines: readonly string[]) => {
    if (/^(?:diff --git|index|new file|deleted file|similarity|rename) /.test(line)) return style.dim(line)
    const isName = isHead(line, lines[index + 1]) || isHead(lines[index - 1] ?? '', line)
    if (isName) return style.bold(line)
    return line.startsWith('@@') ? style.cyan(line) : /^[-+]/.test(line) ? paint(line, style)(line) : line
  }
  return diff.split('\n').map(colour).join('\n')
}

/** Whether two lines name a file; a removed line may look like the first of them. */
function isHead(line: string, next: string | undefined): boolean {
  return line.startsWith('--- ') && next?.startsWith('+++ ') === true
}

function paint(line: string, style: Style): (text: string) => string {
  if (line.startsWith('+')) return style.green
  if (line.startsWith('-')) return style.red
  return style.dim
}
