import type { Word } from '../shell/script.js'

const ADDRESS = String.raw`(?:\d+|\$|/[^/\\\n]*/I?)`
/** Printing, deleting from the output, quitting, line numbers; with an address of one or two lines. Without blanks. */
const PLAIN = new RegExp(`^(?:${ADDRESS}(?:,\\+?${ADDRESS})?)?!?[pdqPDN=lG]?$`)
/** A replacement whose flags neither write nor run. */
const REPLACEMENT = /^s([/|#,!@:])((?:(?!\1)[^\\\n]|\\[^\n])*)\1((?:(?!\1)[^\\\n]|\\[^\n])*)\1[gpIim\d]*$/

/** Whether `sed` with these arguments only prints: every command of its script is known to, and nothing is edited in place. */
export function looksWithSed(args: readonly Word[]): boolean {
  const scripts: Word[] = []
  let hasScript = false
  for (let at = 0; at < args.length; at++) {
    const { text } = args[at]!
    if (/^-[nErsuz]*e$/.test(text) || text === '--expression') {
      scripts.push(...args.slice(++at, at + 1))
      hasScript = true
    } else if (/^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|debug|posix))$/.test(text)) continue
    else if (text.startsWith('-') && text !== '-') return false
    else if (!hasScript) {
      scripts.push(args[at]!)
      hasScript = true
    }
  }
  return scripts.length > 0 && scripts.every(({ text, dynamic }) => !dynamic && isHarmlessScript(text))
}

function isHarmlessScript(script: string): boolean {
  if (REPLACEMENT.test(script.trim())) return true
  return script
    .split(/[;\n]/)
    .every((command) => PLAIN.test(command.replace(/\s+/g, '')) || REPLACEMENT.test(command.trim()))
}
