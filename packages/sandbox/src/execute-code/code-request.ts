import type { Action } from '@hermes/contracts/policy'
import type { ProgressAbout, ToolCaller } from '@hermes/contracts/tool'
import type { Language } from './language.js'

/** One program to run. */
export interface CodeRequest {
  readonly language: Language
  readonly code: string
  /** Absolute. */
  readonly cwd: string
  readonly sessionId: string
  /** What the program may call. */
  readonly tools: ToolCaller
  /** Ends the program: SIGTERM, then SIGKILL a second and a half later. The result says so. */
  readonly signal: AbortSignal
  /** Told how many calls have finished, of how many so far. */
  readonly progress: (text: string, about?: ProgressAbout) => void
  /** Run in an interpreter that stays for the session, with what earlier programs left in it. Default `false`. */
  readonly keep?: boolean
  /** End the interpreter that stayed first. Default `false`. */
  readonly reset?: boolean
}

/** What running a program comes to, in terms of a command. */
export function codeAction({ language, code, cwd }: Pick<CodeRequest, 'language' | 'code' | 'cwd'>): Action {
  const argv = codeArgv({ language, code })
  return { type: 'spawn', command: argv[0]!, argv, cwd, backend: 'local' }
}

/** The words of that command. */
export function codeArgv({ language, code }: Pick<CodeRequest, 'language' | 'code'>): readonly string[] {
  return language === 'python' ? ['python3', '-c', code] : ['node', '-e', code]
}
