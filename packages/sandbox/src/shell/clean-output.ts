// Operating system commands and other strings (ended by BEL or ESC \), control sequences, and two-character escapes.
const ESCAPES =
  /\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\x1b/g
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/**
 * Terminal output as plain text: colours, titles and cursor movements are removed, a line rewritten by carriage returns or
 * backspaces is shown as it ended up, and other control characters go. Newlines and tabs stay.
 */
export function cleanOutput(text: string): string {
  const plain = text.replace(ESCAPES, '').replace(/(?<!\r)\r+\n/g, '\n')
  const lines = /[\r\b]/.test(plain) ? plain.split('\n').map(rewritten).join('\n') : plain
  return lines.replace(CONTROLS, '')
}

/** A line after the cursor went back in it: later text replaces earlier text from the left. */
function rewritten(line: string): string {
  if (!/[\r\b]/.test(line)) return line
  const shown: string[] = []
  let column = 0
  for (const character of line) {
    if (character === '\r') column = 0
    else if (character === '\b') column = Math.max(0, column - 1)
    else shown[column++] = character
  }
  return shown.join('')
}
