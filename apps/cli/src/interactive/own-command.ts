import type { ExecResult } from '@hermes/contracts/environment'
import { printable } from '../render/style.js'

/** What follows `!` at the beginning of a line, a command of the person's own; `null` for any other line. */
export function ownCommand(line: string): string | null {
  return /^!\s*(\S.*)$/s.exec(line.trim())?.[1] ?? null
}

/** How a command ended, where that is worth a line: not when it went well. */
export function describeEnd({ exitCode, signal, timedOut, canceled }: ExecResult): string | null {
  if (canceled) return '[stopped]'
  if (timedOut) return '[stopped after 10 minutes]'
  if (exitCode === 0) return null
  return exitCode === null ? `[ended by ${signal ?? 'a signal'}]` : `[exit ${exitCode}]`
}

/** What the model is told of a command that the person ran. */
export function reportCommand(command: string, result: ExecResult): string {
  const output = printable(result.output).trimEnd()
  const end = describeEnd(result) ?? '[exit 0]'
  return `The user ran this command themselves:\n$ ${command}\n${output === '' ? '(no output)' : output}\n${end}`
}
