import { width } from '../editor/graphemes.js'
import { clip, printable, type Style } from '../render/style.js'
import type { ShownMenu } from './completion-menu.js'

const MAX_ROWS = 8
const MIN_DETAIL_COLUMNS = 12

/** The candidates around the marked one, a row each: what may be taken, and what it is. */
export function drawMenu(menu: ShownMenu, columns: number, room: number, style: Style): readonly string[] {
  const { candidates } = menu.completion
  const hasMore = candidates.length > Math.min(MAX_ROWS, room)
  const count = Math.min(candidates.length, Math.max(1, Math.min(MAX_ROWS, room) - (hasMore ? 1 : 0)))
  const first = Math.max(0, Math.min((menu.at ?? 0) - Math.floor(count / 2), candidates.length - count))
  const shown = candidates.slice(first, first + count).map(({ text, label = text.trimEnd(), detail = '' }) => ({
    label: printable(label),
    detail: printable(detail),
  }))
  const widest = Math.max(...shown.map(({ label }) => width(label)))
  const labelColumns = Math.min(widest, Math.max(MIN_DETAIL_COLUMNS, Math.floor(columns / 2) - 2))
  const hasDetail = columns - labelColumns - 6 >= MIN_DETAIL_COLUMNS
  const rows = shown.map(({ label, detail }, offset) => {
    const isMarked = menu.at === first + offset
    const name = clip(label, detail === '' || !hasDetail ? columns - 4 : labelColumns)
    const padding = ' '.repeat(Math.max(0, labelColumns - width(name)))
    const about = hasDetail && detail !== '' ? clip(detail, columns - labelColumns - 6) : ''
    const text = `${isMarked ? '❯' : ' '} ${isMarked ? style.bold(name) : name}`
    return about === '' ? text : `${text}${padding}  ${style.dim(about)}`
  })
  return hasMore ? [...rows, style.dim(clip(`  ${candidates.length} in all`, columns - 1))] : rows
}
