import { translateIndentation } from './indentation.js'
import { adaptLines, findLines } from './lines.js'
import type { Strategy } from './strategy.js'

/** Whole lines, however they are indented; the replacement gets the indentation of the file. */
export const indentationFlexible: Strategy = {
  name: 'indentation-flexible',
  find: (text, search) => findLines(text, search, (line) => line.trim()),
  adapt: (edit) => adaptLines(edit, translateIndentation),
}
