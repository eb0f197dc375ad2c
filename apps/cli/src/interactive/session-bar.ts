// The last row of the screen: what the session is and costs.
import type { UsageTotal } from '@hermes/contracts/store'
import { width } from '../editor/graphemes.js'
import { clip, printable, type Style } from '../render/style.js'

/** What the bar tells, in the order in which it does. */
export interface SessionBar {
  readonly model: string
  /** Tokens of the newest request with its answer; `null` before the first. */
  readonly contextTokens: number | null
  /** How many the model takes; `null` where nobody has said yet. */
  readonly contextWindow: number | null
  /** What all calls for the session came to, as far as it is known; `null` before the first one that was counted. */
  readonly cost: Pick<UsageTotal, 'calls' | 'knownCostUsd' | 'unpricedCalls'> | null
  /** What is not as usual: a plan is made, nothing is asked. */
  readonly modes: readonly string[]
  readonly title: string | null
  /** The folder, with `~` for the home of the person. */
  readonly folder: string
  readonly branch: string | null
}

/** What the bar can tell. */
export const BAR_FIELDS = ['model', 'context', 'cost', 'modes', 'title', 'folder', 'branch'] as const
export type BarField = (typeof BAR_FIELDS)[number]

/** Marks the row. */
const START = '╰ '
const LEAST_COLUMNS = 24
const MEDIUM_COLUMNS = 60
const WIDE_COLUMNS = 100
const MAX_MODEL = 26
const MAX_TITLE = 30
const MAX_FOLDER = 40

/** How the bar is drawn. */
interface BarLook {
  readonly columns: number
  readonly style: Style
  /** What it tells, as far as there is room. Default: all. */
  readonly fields?: readonly BarField[]
}

/**
 * The bar as one row: below 60 columns the model, the context and the modes; below 100 also what it costs and the folder; then all. `null`
 * where the screen is too narrow.
 */
export function drawBar(bar: SessionBar, { columns, style, fields: wanted = BAR_FIELDS }: BarLook): string | null {
  if (columns < LEAST_COLUMNS) return null
  const isMedium = columns >= MEDIUM_COLUMNS
  const isWide = columns >= WIDE_COLUMNS
  const modes = bar.modes.join(', ')
  const values: Readonly<Record<BarField, string>> = {
    model: clip(bar.model, MAX_MODEL),
    context: contextField(bar),
    cost: isMedium ? costField(bar.cost) : '',
    modes,
    title: isWide && bar.title !== null ? clip(bar.title, MAX_TITLE) : '',
    folder: isMedium ? end(printable(bar.folder), MAX_FOLDER) : '',
    branch: isWide && bar.branch !== null ? clip(bar.branch, MAX_TITLE) : '',
  }
  const fields = BAR_FIELDS.filter((field) => values[field] !== '' && wanted.includes(field))
  const text = clip(START + fields.map((field) => values[field]).join(' · '), columns - 1)
  const before = fields.slice(0, fields.indexOf('modes')).map((field) => `${values[field]} · `)
  const from = START.length + before.join('').length
  if (!fields.includes('modes') || !text.startsWith(modes, from)) return style.dim(text)
  return `${style.dim(text.slice(0, from))}${style.notice(modes)}${style.dim(text.slice(from + modes.length))}`
}

function contextField({ contextTokens, contextWindow }: SessionBar): string {
  if (contextTokens === null) return ''
  if (contextWindow === null || contextWindow <= 0) return `${short(contextTokens)} tokens`
  return `${Math.min(100, Math.round((contextTokens / contextWindow) * 100))}% of ${short(contextWindow)}`
}

/** A sum that leaves out calls of unknown cost says so, and one of nothing else is no 0. */
function costField(cost: SessionBar['cost']): string {
  if (cost === null || cost.calls === 0) return ''
  const { calls, knownCostUsd, unpricedCalls } = cost
  if (unpricedCalls === calls) return 'cost unknown'
  const digits = knownCostUsd >= 0.01 || knownCostUsd === 0 ? 2 : 4
  return `${unpricedCalls > 0 ? '≥ ' : ''}$${knownCostUsd.toFixed(digits)}`
}

function short(tokens: number): string {
  if (tokens < 1_000) return String(tokens)
  return tokens < 1_000_000
    ? `${Math.round(tokens / 1_000)}k`
    : `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

/** The end of a path tells more than its beginning. */
function end(path: string, most: number): string {
  return width(path) <= most ? path : `…${path.slice(-(most - 1))}`
}
