import { fstatSync } from 'node:fs'
import type { Io } from './io.js'

const MAX_CHARS = 1_000_000
const NOTICE_AFTER_MS = 3_000

/** What was piped in, or `null` when standard input is a terminal, empty or not there. Cut at a million characters. */
export async function readPipedInput(io: Io): Promise<string | null> {
  if (io.stdin.isTTY || !isPipeOrFile()) return null
  const notice = setTimeout(() => io.stderr.write('Reading from standard input; close it to go on.\n'), NOTICE_AFTER_MS)
  try {
    let text = ''
    io.stdin.setEncoding('utf8')
    for await (const chunk of io.stdin) {
      text += chunk
      if (text.length > MAX_CHARS) break
    }
    if (text.length > MAX_CHARS) {
      io.stderr.write(`Standard input is longer than ${MAX_CHARS} characters; the rest was left out.\n`)
      text = text.slice(0, MAX_CHARS).toWellFormed()
    }
    return text.trim() === '' ? null : text
  } finally {
    clearTimeout(notice)
  }
}

function isPipeOrFile(): boolean {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    return false
  }
}
