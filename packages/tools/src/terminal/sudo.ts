import type { BackgroundProcess, ExecResult } from '@hermes/contracts/environment'
import type { ToolContext, ToolState } from '@hermes/contracts/tool'

/** Where the password for `sudo` comes from. */
export interface SudoSettings {
  /** The one that is configured; `null` where a person is asked, once in a session. */
  readonly password: string | null
  /** Has a value taken out of everything that is stored or shown from now on. */
  readonly conceal: (secret: string) => void
}

/** A password, and whether the configuration gave it or a person. */
export interface SudoPassword {
  readonly text: string
  readonly from: 'settings' | 'person'
}

const USES_SUDO = /(?:^|[\s;&|(`])sudo\s/
const REFUSED = /incorrect password attempt|Sorry, try again\./
const WANTED =
  /a terminal is required to read the password|a password is required|no password was provided|no askpass program/

/** What a person said in this session; only in memory. */
const answerOf = (state: ToolState) =>
  state.scratch('sudo', (): { password: string | null; isRefused: boolean } => ({ password: null, isRefused: false }))

/** The password for a command that uses `sudo`; `null` when it needs none, or there is none. Asks a person at most once in a session. */
export async function sudoPassword(
  { command, outside = false }: { readonly command: string; readonly outside?: boolean },
  context: ToolContext,
  settings: SudoSettings | undefined,
): Promise<SudoPassword | null> {
  if (!settings || !USES_SUDO.test(command)) return null
  const { sudo, capabilities } = context.environment
  if (!sudo || (capabilities.isolated && !outside)) return null
  if (settings.password !== null) return { text: settings.password, from: 'settings' }
  const answer = answerOf(context.state)
  if (answer.password === null && !answer.isRefused && (await sudo.needsPassword())) {
    const input = await context.ask({
      question: `Password for sudo, to run: ${command}`,
      choices: [],
      allowFreeText: true,
      isSecret: true,
    })
    if (input.type === 'answered') settings.conceal(input.text)
    answer.password = input.type === 'answered' ? input.text : null
    answer.isRefused = input.type === 'unanswered'
  }
  return answer.password === null ? null : { text: answer.password, from: 'person' }
}

/** Has a person asked again when a process that goes on was given a password that is wrong. */
export function forgetWhenRefused(process: BackgroundProcess, { from }: SudoPassword, { state }: ToolContext): void {
  if (from === 'settings') return
  const onExit = () => {
    if (REFUSED.test(process.output())) answerOf(state).password = null
  }
  process.observe({ onExit })
}

/** What became of the password: lines for the model, and facts. A password that was wrong is asked for again the next time. */
export function sudoOutcome(
  command: string,
  { output, exitCode }: ExecResult,
  password: SudoPassword | null,
  { state, environment }: ToolContext,
): { readonly notes: readonly string[]; readonly data: Readonly<Record<string, true>> } {
  if (exitCode === 0 || !USES_SUDO.test(command)) return { notes: [], data: {} }
  if (password && REFUSED.test(output)) {
    if (password.from === 'settings')
      return {
        notes: ['[sudo did not take SUDO_PASSWORD; the user has to correct it]'],
        data: { sudo_auth_failed: true },
      }
    answerOf(state).password = null
    return {
      notes: ['[sudo did not take the password; the user is asked again when sudo is used next]'],
      data: { sudo_auth_failed: true, sudo_cache_cleared: true },
    }
  }
  if (!WANTED.test(output)) return { notes: [], data: {} }
  const why = !environment.sudo
    ? `sudo can be given no password in the ${environment.backend} environment; do it without sudo, or ask the user`
    : password
      ? 'sudo inside a script or another program gets no password; use sudo in the command itself'
      : 'there is no password for sudo here; the user can set SUDO_PASSWORD in the .env of Hermes, or run this'
  return { notes: [`[${why}]`], data: { sudo_auth_failed: true } }
}
