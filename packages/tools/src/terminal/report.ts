import type { JsonObject } from '@hermes/contracts'
import type { ExecResult } from '@hermes/contracts/environment'
import type { ToolResult } from '@hermes/contracts/tool'
import { cleanOutput, exitCodeMeaning } from '@hermes/sandbox'

export const NO_PTY =
  'There is no pseudo-terminal here (it takes node-pty on this machine, script of util-linux on others), so it runs without one.'

/** What a report needs besides the result. */
interface ReportContext {
  readonly timeoutMs: number
  /** The shell's directory. */
  readonly before: string
  readonly after: string
  readonly notes: readonly string[]
  readonly data: JsonObject
}

/** What the model is told of a command that has ended. */
export function report(
  args: { readonly command: string; readonly pty?: boolean },
  result: ExecResult,
  at: ReportContext,
  hasPty = true,
): ToolResult {
  const output = cleanOutput(result.output).trimEnd()
  const meaning = result.exitCode ? exitCodeMeaning(args.command, result.exitCode) : null
  const notes = [
    ...(args.pty && !hasPty ? [`[${NO_PTY}]`] : []),
    ...(result.fullOutputPath
      ? [`[output cut: ${result.outputBytes} bytes, ${partSaved(result)} in ${result.fullOutputPath}]`]
      : []),
    ...ending(result, meaning, at),
    ...at.notes,
  ]
  const text = [output === '' && notes.length === 0 ? '(no output)' : output, ...notes].filter((line) => line !== '')
  const data = {
    output,
    exit_code: result.exitCode,
    ...(meaning ? { exit_code_meaning: meaning } : {}),
    ...(result.timedOut ? { timed_out: true } : {}),
    ...(result.canceled ? { interrupted: true } : {}),
    ...(result.fullOutputPath ? { full_output_path: result.fullOutputPath } : {}),
    ...at.data,
    cwd: at.after,
    duration_ms: result.durationMs,
  }
  return { data, text: text.join('\n'), isError: result.timedOut }
}

const partSaved = ({ savedBytes }: ExecResult): string =>
  savedBytes === undefined ? 'all of it' : `the first ${savedBytes} of them`

function ending(result: ExecResult, meaning: string | null, at: ReportContext): readonly string[] {
  if (result.timedOut)
    return [
      `[killed after ${at.timeoutMs / 1000} s. Give a longer timeout, make the work smaller, or run it with background=true and wait for it with process.]`,
    ]
  if (result.canceled) return ['[interrupted by the user]']
  const facts: string[] = []
  if (result.exitCode === null) facts.push(`ended by ${result.signal ?? 'a signal'}`)
  else if (result.exitCode !== 0) facts.push(`exit ${result.exitCode}${meaning ? `: ${meaning}` : ''}`)
  if (facts.length > 0) facts.push(`${(result.durationMs / 1000).toFixed(1)} s`)
  if (at.after !== at.before) facts.push(`cwd ${at.after}`)
  return facts.length === 0 ? [] : [`[${facts.join(' · ')}]`]
}
