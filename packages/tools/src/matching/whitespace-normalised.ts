import { translateIndentation } from './indentation.js'
import { adaptLines, findLines } from './lines.js'
import type { Strategy } from './strategy.js'

/** Whole lines, with any run of spaces and tabs taken for one space. */
export const whitespaceNormalised: Strategy = {
  name: 'whitespace-normalised',
  find: (text, search) => findLines(text, search, (line) => line.trim().replace(/[ \t]+/g, ' ')),
  adapt: (edit) => adaptLines(edit, translateIndentation),
  singleOnly: true,
}
