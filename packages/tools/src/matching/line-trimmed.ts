import { adaptLines, findLines } from './lines.js'
import type { Strategy } from './strategy.js'

/** Whole lines, whatever whitespace they end in. */
export const lineTrimmed: Strategy = {
  name: 'line-trimmed',
  find: (text, search) => findLines(text, search, (line) => line.trimEnd()),
  adapt: (edit) => adaptLines(edit, (lines) => lines),
}
