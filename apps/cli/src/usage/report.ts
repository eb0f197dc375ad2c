import type { UsageTotal } from '@hermes/contracts/store'
import { dollars, shortNumber } from '@hermes/models/spending'
import { clip, printable, type Style } from '../render/style.js'

/** What a report is drawn from. */
interface UsageReport {
  /** One line above the table. */
  readonly title: string
  /** What the first column holds. */
  readonly group: string
  readonly rows: readonly UsageTotal[]
  readonly total: UsageTotal
}

const MAX_BAR = 40
const MAX_NAME = 36
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** The table of a report, with a bar for what each row cost; in tokens where no cost is known. */
export function renderUsage({ title, group, rows, total }: UsageReport, style: Style, columns: number): string {
  const cells = [...rows, { ...total, key: 'total' }].map(cellsOf)
  const head = [group, 'calls', 'in', 'cached', 'out', 'cost']
  const widths = head.map((name, index) => Math.max(name.length, ...cells.map((row) => row[index]!.length)))
  const line = (row: readonly string[]) =>
    row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join('  ')
  const room = Math.min(MAX_BAR, columns - widths.reduce((sum, width) => sum + width + 2, 0) - 4)
  const size = total.knownCostUsd > 0 ? (row: UsageTotal) => row.knownCostUsd : tokensOf
  const most = Math.max(...rows.map(size))
  const lines = rows.map((row, index) => {
    const bar = room < 4 || most <= 0 ? '' : `  ${style.cyan(barOf((size(row) / most) * room))}`
    return `  ${line(cells[index]!)}${bar}`
  })
  const sum = style.bold(`  ${line(cells.at(-1)!)}`)
  return [style.bold(title), '', style.dim(`  ${line(head)}`), ...lines, sum, '', ...notes(total, style), ''].join('\n')
}

function cellsOf(row: UsageTotal): string[] {
  const { inputTokens, cacheReadTokens, outputTokens } = row.usage
  const share = inputTokens === 0 ? '' : `${Math.round((100 * cacheReadTokens) / inputTokens)} %`
  return [
    clip(printable(row.key === '' ? '(none)' : row.key), MAX_NAME),
    String(row.calls),
    shortNumber(inputTokens),
    share,
    shortNumber(outputTokens),
    costOf(row),
  ]
}

function tokensOf({ usage }: UsageTotal): number {
  return usage.inputTokens + usage.outputTokens
}

/** A sum that leaves out calls of unknown cost says so, and so does one that holds estimates. */
function costOf({ knownCostUsd, unpricedCalls, calls, estimatedCalls = 0 }: UsageTotal): string {
  if (calls > 0 && unpricedCalls === calls) return 'unknown'
  const mark = unpricedCalls > 0 ? '≥ ' : estimatedCalls > 0 ? '≈ ' : ''
  return `${mark}${dollars(knownCostUsd)}`
}

function barOf(length: number): string {
  const whole = Math.floor(length)
  return '█'.repeat(whole) + EIGHTHS[Math.floor((length - whole) * 8)]!
}

function notes({ priceSources, unpricedCalls, estimatedCalls = 0 }: UsageTotal, style: Style): string[] {
  const sources = priceSources.length > 0 ? [`Prices: ${priceSources.join('; ')}.`] : []
  const unknown = unpricedCalls > 0 ? [`The cost of ${count(unpricedCalls)} is not known and not in the sums.`] : []
  const estimated =
    estimatedCalls > 0 ? [`The tokens of ${count(estimatedCalls)} are estimated: the answer broke off.`] : []
  return [...sources, ...unknown, ...estimated].map((text) => style.dim(text))
}

function count(calls: number): string {
  return calls === 1 ? 'one call' : `${calls} calls`
}
