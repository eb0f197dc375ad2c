import type { ToolContext } from '@hermes/contracts/tool'
import { fileLedger } from '../files/file-ledger.js'

const GIVE_UP_AFTER = 3

/** Counts a failed edit of the file and gives a line that advises another way from the third in a row on; empty before. */
export function giveUpAdvice(context: ToolContext, real: string): string {
  const failures = fileLedger(context.state).editFailed(real)
  return failures < GIVE_UP_AFTER
    ? ''
    : `\nThis is failure ${failures} in a row on this file: read it again, take more context, or rewrite it with write_file.`
}
