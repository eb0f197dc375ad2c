import type { PageNode } from './page-node.js'

/** What a model is shown of a page at once. */
const VIEW_CHARS = 3_400
/** Of rows alike: as many as hold so many parts, within these bounds. */
const PARTS_SHOWN = 24
const ROWS_SHOWN = { least: 8, most: 20 } as const
/** Rows of more parts are a line for each part. */
const ROW_PARTS = 5
const CHANGE_CHARS = 1_200
/** Heads and feet of a site that are as long are shown once, and not again on its next page. */
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
  /** Lines of its site that answers held before, without their references. */
  readonly shown: ReadonlySet<string>
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

/** A line whose role is known. */
const shortOf = (node: PageNode) =>
  node.role === 'text' ? node.name : lineOf({ ...node, role: '' }).replace(/ {2,}/, ' ')

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** What is in the window, rows alike folded; the rest counted. `before`: the page that stood there before, whose site, head and foot need not be said again. */
export function viewText(snapshot: Snapshot, before: Snapshot | null = null): string {
  const { nodes } = snapshot
  const first = nodes.findIndex(({ inView }) => inView)
  const last = nodes.findLastIndex(({ inView }) => inView)
  const title = head(snapshot, isSameSite(snapshot, before) ? originOf(snapshot.url) : '')
  if (first < 0) return [title, ...page(snapshot, 1).lines, rest(snapshot, page(snapshot, 1).end)].join('\n')
  const seen = nodes.slice(first, last + 1).filter(({ inView }) => inView)
  const { start, end: foot } = repeated(seen, snapshot, before)
  const items = [...asBefore(seen.slice(0, start)), ...folded(seen.slice(start, foot)), ...asBefore(seen.slice(foot))]
  const { lines, count } = fit(
    items.map(({ line }) => line),
    VIEW_CHARS,
  )
  const next = items.slice(0, count).reduce((sum, { nodes: number }) => sum + number, 0)
  const end = next < seen.length ? nodes.indexOf(seen[next]!) : last + 1
  return [title, ...(first > 0 ? [`(above: ${plural(first, 'line')})`] : []), ...lines, rest(snapshot, end)]
    .filter((line) => line !== '')
    .join('\n')
}

/** A line that is shown, and of how many nodes. */
interface Item {
  readonly line: string
  readonly nodes: number
}

/** Whether another page of the same site stood there before. */
function isSameSite({ url }: Snapshot, before: Snapshot | null): before is Snapshot {
  const site = originOf(url)
  // A page of the browser's own is of no site.
  const isSame = before !== null && site !== 'null' && originOf(before.url) === site
  return isSame && withoutHash(before.url) !== withoutHash(url)
}

/** Where what a page does not share with the one before it begins and ends. Only lines that an answer held count as shared. */
function repeated(seen: readonly PageNode[], snapshot: Snapshot, before: Snapshot | null) {
  const { shown } = snapshot
  const [old, now] = isSameSite(snapshot, before) ? [before.nodes.map(bare), seen.map(bare)] : [[], []]
  const isShared = (one: string | undefined, other: string | undefined) =>
    one !== undefined && one === other && shown.has(one)
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && isShared(old[start], now[start])) start++
  let foot = 0
  while (foot < most - start && isShared(old.at(-1 - foot), now.at(-1 - foot))) foot++
  return { start: start < REPEATED_LINES ? 0 : start, end: seen.length - (foot < REPEATED_LINES ? 0 : foot) }
}

/** One line for those that were shown before, in the same order; their references are new. */
function asBefore(nodes: readonly PageNode[]): readonly Item[] {
  if (nodes.length === 0) return []
  const refs = nodes.flatMap(({ ref }) => ref ?? [])
  const which = refs.length > 0 ? `, ${refs[0]} to ${refs.at(-1)}` : ''
  return [{ line: `(${nodes.length} lines as before${which})`, nodes: nodes.length }]
}

/** The lines of a text that is shown, as {@link Snapshot.shown} has them. */
export function shownLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/^\[\w+\] /, ''))
}

const bare = ({ ref: _, ...node }: PageNode) => lineOf(node)
const originOf = (url: string) => URL.parse(url)?.origin ?? ''

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
  // Of what was acted on that is all there is to say.
  if (came.length === 1 && gone(came, went).length === 0) return `Changed: ${came[0]}`
  if (came.length > 8 && came.length > after.lines.length * 0.6) return null
  const lines = [...came.map((line) => `+ ${line}`), ...gone(came, went).map((line) => `- ${cutTo(line, 100)}`)]
  const shown = fit(lines, CHANGE_CHARS)
  const left = lines.length - shown.count
  return ['Changed:', ...shown.lines, ...(left > 0 ? [`(${left} more changes: browser_snapshot)`] : [])].join('\n')
}

/** Lines that went with their element. */
function gone(came: readonly string[], went: readonly string[]): readonly string[] {
  const refOf = (line: string) => /^\[\w+\]/.exec(line)?.[0]
  const refs = new Set(came.flatMap((line) => refOf(line) ?? []))
  return went.filter((line) => !refs.has(refOf(line) ?? ''))
}

const cutTo = (line: string, most: number) => (line.length > most ? `${line.slice(0, most)}…` : line)
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

/** `site`: what begins its address, where that was said. */
function head({ title, url, scroll, contentType }: Snapshot, site = ''): string {
  const { y, height, viewport } = scroll
  const parts =
    height > viewport * 1.5
      ? ` (${y > 0 ? `at ${Math.round((y / (height - viewport)) * 100)} % of ` : ''}${Math.ceil(height / viewport)} screens)`
      : ''
  const address = site === '' ? url : `…${url.slice(site.length)}`
  return `${title === '' ? 'Untitled' : title} — ${cutTo(address, 300)}${parts}${contentType === 'application/pdf' ? PDF : ''}`
}

interface Fold {
  readonly rows: Set<number>
  readonly refs: string[]
  nodes: number
}

/** Rows alike are a line each, of which the first says what its parts are; those after the first ones are one line together. */
function folded(nodes: readonly PageNode[]): readonly Item[] {
  const items: Item[] = []
  const folds = new Map<number, Fold>()
  const close = () => {
    for (const { rows, refs, nodes: number } of folds.values()) {
      const which = refs.length > 0 ? ` (${refs[0]} to ${refs.at(-1)})` : ''
      items.push({ line: `… ${plural(rows.size, 'more row')}${which}: find="text"`, nodes: number })
    }
    folds.clear()
  }
  let [parts, group, most] = ['', 0, 0]
  for (const row of byRow(nodes)) {
    const [own, index] = row[0]!.row ?? [0, 0]
    if (own !== group) most = Math.min(ROWS_SHOWN.most, Math.max(ROWS_SHOWN.least, PARTS_SHOWN / row.length))
    if (own === 0 || index < most) {
      close()
      const now = row.map(({ role }) => role).join()
      const isAlike = own !== 0 && own === group && now === parts
      ;[parts, group] = [now, own]
      items.push(...rowLines(row, isAlike))
      continue
    }
    group = own
    const fold = folds.get(own) ?? { rows: new Set(), refs: [], nodes: 0 }
    folds.set(own, fold)
    fold.rows.add(index)
    fold.refs.push(...row.flatMap(({ ref }) => ref ?? []))
    fold.nodes += row.length
  }
  close()
  return items
}

/** Nodes of one row together, all others alone. */
function byRow(nodes: readonly PageNode[]): readonly (readonly PageNode[])[] {
  const rows: PageNode[][] = []
  for (const node of nodes) {
    const [last] = rows.at(-1) ?? []
    const isSame = last?.row && node.row && last.row[0] === node.row[0] && last.row[1] === node.row[1]
    if (isSame) rows.at(-1)!.push(node)
    else rows.push([node])
  }
  return rows
}

function rowLines(row: readonly PageNode[], isAlike: boolean): readonly Item[] {
  const isShort = row.length > 1 && row.length <= ROW_PARTS
  if (!isShort) return row.map((node) => ({ line: lineOf(node), nodes: 1 }))
  return [{ line: row.map(isAlike ? shortOf : lineOf).join('; '), nodes: row.length }]
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
  return `(below: ${plural(left.length, 'line')}${isCut ? ' and more' : ''}${what.length > 0 ? `, ${what.join(', ')}` : ''}: browser_scroll or more=1)`
}
