import type { PageNode } from './page-node.js'

/** What a model is shown of a page at once. */
const VIEW_CHARS = 3_400
const ROWS_SHOWN = 20
const CHANGE_CHARS = 1_200
/** Heads and feet of a site that are longer are shown once, and not again on its next page. */
const REPEATED_LINES = 8

/** A page as lines. */
export interface Snapshot {
  readonly nodes: readonly PageNode[]
  readonly lines: readonly string[]
  readonly url: string
  readonly title: string
  readonly scroll: { readonly y: number; readonly height: number; readonly viewport: number }
  readonly isCut: boolean
  readonly contentType: string
}

/** One line: `[e3] link "Home"`, `heading 2 "News"`, or text. */
export function lineOf({ ref, role, name, value, states = [], options }: PageNode): string {
  if (role === 'text') return name
  return [
    ...(ref === undefined ? [] : [`[${ref}]`]),
    role,
    ...(name === '' ? [] : [JSON.stringify(name)]),
    ...(value === undefined ? [] : [`= ${JSON.stringify(value)}`]),
    ...(states.length > 0 ? [`(${states.join(', ')})`] : []),
    ...(options && options.length > 0 ? [`of ${options.join(' | ')}${options.length === 20 ? ' | …' : ''}`] : []),
  ].join(' ')
}

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** What is in the window, rows alike folded; the rest counted. `before`: the page that was shown last, whose head and foot need not be said again. */
export function viewText(snapshot: Snapshot, before: Snapshot | null = null): string {
  const { nodes } = snapshot
  const first = nodes.findIndex(({ inView }) => inView)
  const last = nodes.findLastIndex(({ inView }) => inView)
  if (first < 0) return [head(snapshot), ...page(snapshot, 1).lines, rest(snapshot, page(snapshot, 1).end)].join('\n')
  const seen = nodes.slice(first, last + 1).filter(({ inView }) => inView)
  const { start, end: foot } = repeated(seen, snapshot, before)
  const all = [...asBefore(seen.slice(0, start)), ...folded(seen.slice(start, foot)), ...asBefore(seen.slice(foot))]
  const { lines, count } = fit(all, VIEW_CHARS)
  const next = Math.max(0, start - 1) + count
  const end = count < all.length ? nodes.indexOf(seen[Math.min(next, seen.length - 1)]!) : last + 1
  return [head(snapshot), ...(first > 0 ? [`(above: ${plural(first, 'line')})`] : []), ...lines, rest(snapshot, end)]
    .filter((line) => line !== '')
    .join('\n')
}

/** Where what a page does not share with the one before it begins and ends. */
function repeated(seen: readonly PageNode[], { url }: Snapshot, before: Snapshot | null) {
  const isSameSite =
    before !== null && originOf(before.url) === originOf(url) && withoutHash(before.url) !== withoutHash(url)
  const old = isSameSite ? before.nodes.filter(({ inView }) => inView).map(bare) : []
  const now = isSameSite ? seen.map(bare) : []
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let foot = 0
  while (foot < most - start && old.at(-1 - foot) === now.at(-1 - foot)) foot++
  return { start: start < REPEATED_LINES ? 0 : start, end: seen.length - (foot < REPEATED_LINES ? 0 : foot) }
}

/** One line for those of the page before; their references are new. */
function asBefore(nodes: readonly PageNode[]): readonly string[] {
  const [first, last] = [nodes[0], nodes.at(-1)]
  return first && last
    ? [
        `(${nodes.length} lines as on the page before, ${lineOf(first)} to ${lineOf(last)}: browser_snapshot shows them)`,
      ]
    : []
}

const bare = ({ ref: _, ...node }: PageNode) => lineOf(node)
const originOf = (url: string) => URL.parse(url)?.origin

/** One part after the other of the whole page, from 1. */
export function partText(snapshot: Snapshot, part: number): string {
  const { lines, start, end } = page(snapshot, part)
  if (lines.length === 0) return `${head(snapshot)}\n(the page has no part ${part})`
  const more =
    end < snapshot.nodes.length
      ? `(${plural(snapshot.nodes.length - end, 'line')} more: more=${part + 1})`
      : '(end of the page)'
  return [head(snapshot), ...(start > 0 ? [`(lines ${start + 1} to ${end})`] : []), ...lines, more].join('\n')
}

/** Lines that hold a text, with the one before and after each. */
export function findText(snapshot: Snapshot, text: string): string {
  const wanted = text.toLowerCase()
  const hits = snapshot.lines.flatMap((line, at) => (line.toLowerCase().includes(wanted) ? [at] : []))
  if (hits.length === 0) return `${head(snapshot)}\nNothing on the page holds ${JSON.stringify(text)}.`
  const near = [...new Set(hits.flatMap((at) => [at - 1, at, at + 1]))].filter((at) => at in snapshot.lines)
  const parts = near.flatMap((at, index) => [
    ...(index > 0 && near[index - 1] !== at - 1 ? ['…'] : []),
    snapshot.lines[at]!,
  ])
  const { lines, count } = fit(parts, VIEW_CHARS)
  return [
    head(snapshot),
    ...lines,
    ...(count < parts.length ? [`(${plural(hits.length, 'hit')}; look for something narrower)`] : []),
  ].join('\n')
}

/** What an action changed: lines that went and came. `null` when it is another page, or nearly all is new. */
export function changeText(before: Snapshot, after: Snapshot): string | null {
  if (withoutHash(before.url) !== withoutHash(after.url)) return null
  const [old, now] = [count(before.lines), count(after.lines)]
  const came = after.lines.filter((line) => take(old, line))
  const went = before.lines.filter((line) => take(now, line))
  if (came.length === 0 && went.length === 0) return 'Nothing on the page changed.'
  if (came.length > 8 && came.length > after.lines.length * 0.6) return null
  const refs = new Set(came.flatMap((line) => /^\[\w+\]/.exec(line)?.[0] ?? []))
  const gone = went.filter((line) => !refs.has(/^\[\w+\]/.exec(line)?.[0] ?? ''))
  const lines = [...came.map((line) => `+ ${line}`), ...gone.map((line) => `- ${cut(line)}`)]
  const shown = fit(lines, CHANGE_CHARS)
  const left = lines.length - shown.count
  return ['Changed:', ...shown.lines, ...(left > 0 ? [`(${left} more changes: browser_snapshot)`] : [])].join('\n')
}

const cut = (line: string) => (line.length > 100 ? `${line.slice(0, 100)}…` : line)
const withoutHash = (url: string) => url.split('#')[0]

function count(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

/** Whether a line is none of those that are left; takes it out of them otherwise. */
function take(counts: Map<string, number>, line: string): boolean {
  const left = counts.get(line) ?? 0
  counts.set(line, left - 1)
  return left <= 0
}

const PDF = '\n(a PDF, whose text is not seen here: web_extract reads it, browser_vision looks at it)'

function head({ title, url, scroll, contentType }: Snapshot): string {
  const { y, height, viewport } = scroll
  const parts =
    height > viewport * 1.5
      ? ` (at ${Math.round((y / (height - viewport)) * 100)} % of ${Math.ceil(height / viewport)} screens)`
      : ''
  return `${title === '' ? 'Untitled' : title} — ${url.length > 300 ? `${url.slice(0, 300)}…` : url}${parts}${contentType === 'application/pdf' ? PDF : ''}`
}

interface Fold {
  readonly group: number
  readonly rows: Set<number>
  readonly refs: string[]
}

/** Rows after the first ones are one line: how many, and their references. */
function folded(nodes: readonly PageNode[]): readonly string[] {
  const lines: string[] = []
  const folds = new Map<number, Fold>()
  const close = () => {
    for (const { rows, refs } of folds.values()) {
      const which = refs.length > 0 ? ` (${refs[0]} to ${refs.at(-1)})` : ''
      lines.push(`… ${plural(rows.size, 'more row')} like these${which}: find="text" or more=1 shows them`)
    }
    folds.clear()
  }
  for (const node of nodes) {
    const [group, index] = node.row ?? [0, 0]
    if (!node.row || index < ROWS_SHOWN) {
      close()
      lines.push(lineOf(node))
      continue
    }
    const fold = folds.get(group) ?? { group, rows: new Set(), refs: [] }
    folds.set(group, fold)
    fold.rows.add(index)
    if (node.ref !== undefined) fold.refs.push(node.ref)
  }
  close()
  return lines
}

function fit(lines: readonly string[], chars: number): { readonly lines: readonly string[]; readonly count: number } {
  let length = 0
  let at = 0
  while (at < lines.length && (at === 0 || length + lines[at]!.length < chars)) length += lines[at++]!.length + 1
  return { lines: lines.slice(0, at), count: at }
}

function page(
  { lines }: Snapshot,
  part: number,
): { readonly lines: readonly string[]; readonly start: number; readonly end: number } {
  let start = 0
  for (let at = 1; ; at++) {
    const shown = fit(lines.slice(start), VIEW_CHARS)
    if (at === part) return { lines: shown.lines, start, end: start + shown.count }
    start += shown.count
    if (start >= lines.length) return { lines: [], start, end: start }
  }
}

function rest({ nodes, isCut }: Snapshot, from: number): string {
  const left = nodes.slice(from)
  if (left.length === 0) return ''
  const number = (roles: readonly string[]) => left.filter(({ role }) => roles.includes(role)).length
  const kinds = [
    [number(['link']), 'link'],
    [number(['button', 'clickable', 'menuitem', 'tab']), 'button'],
    [
      number(['textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'listbox', 'file', 'password', 'spinbutton']),
      'field',
    ],
  ] as const
  const what = kinds.filter(([one]) => one > 0).map(([one, kind]) => plural(one, kind))
  return `(below: ${plural(left.length, 'line')}${isCut ? ' and more' : ''}${what.length > 0 ? `, ${what.join(', ')}` : ''}: browser_scroll, or browser_snapshot with more=1, find="text" or scope="e1")`
}
