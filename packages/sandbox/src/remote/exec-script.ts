import { SCREEN } from '../local/pty.js'
import { quote } from '../shell/command-text.js'
import { foregroundArgs, shellProgram } from '../shell/shell-script.js'
import { COUNT_LEFT, OWN_START } from './kill-script.js'
import { exportLines } from './shell-text.js'

/** One command to run over there. */
export interface RemoteCommand {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Names of variables the remote shell may have by itself. */
  readonly inherited: Iterable<string>
  readonly shell: string
  /** On a pseudo-terminal, where the other side has `script` of util-linux; for background processes. */
  readonly pty?: boolean
  /** Lines before it starts, once its directory is there, and after it has ended. */
  readonly around?: { readonly before: string; readonly after: string }
}

const ENTER = (cwd: string, otherwise: string) => `CDPATH= cd -- ${quote(cwd)} 2>/dev/null || { ${otherwise}; }`

/** Prints the nearest directory above `$1` that exists. */
const NEAREST = `nearest() {
  near=$1
  while [ ! -d "$near" ] && [ "$near" != "\${near%/*}" ]; do near=\${near%/*}; done
  printf %s "\${near:-/}"
}
`

/**
 * Runs a command in a session of its own (which is what a client gives it), and prints around its output what the caller must know:
 * `start NUMBER TIME` first; after it `end STATUS LEFT NEAREST`, the saved state, and `done`. `gone NEAREST` when `cwd` is missing.
 */
export function execScript(remote: RemoteCommand, mark: string, scratch: string, hasInput: boolean): string {
  const state = `${scratch}/state-${mark}`
  const [...args] = foregroundArgs(shellProgram(remote.shell), remote.command, state)
  const say = (format: string, ...values: string[]) => `printf '\\0%s ${format}\\0' ${[mark, ...values].join(' ')}`
  return `${NEAREST}${ENTER(remote.cwd, `${say('gone %s', `"$(nearest ${quote(remote.cwd)})"`)}; exit 0`)}
[ -d ${quote(scratch)} ] || mkdir -m 700 ${quote(scratch)}
${remote.around?.before ?? ''}
${OWN_START}${say('start %s %s', '$$', '"$__hermes_start"')}
( ${exportLines(remote.env, remote.inherited)}
exec ${[remote.shell, ...args].map(quote).join(' ')} ) ${hasInput ? '' : '</dev/null'} 2>&1
__hermes_status=$?
${remote.around?.after ?? ''}
${COUNT_LEFT}
__hermes_cwd=
[ ! -s ${quote(state)} ] || IFS= read -r __hermes_cwd < ${quote(state)}
${say('end %s %s %s', '"$__hermes_status"', '"$__hermes_left"', '"$(nearest "$__hermes_cwd")"')}
cat ${quote(state)} 2>/dev/null; rm -f ${quote(state)}
${say('done')}`
}

/** Runs a command that goes on, and tells its number on standard error: `NUMBER TIME` after the mark. */
export function backgroundScript(remote: RemoteCommand, mark: string): string {
  const shell = shellProgram(remote.shell)
  const args = [shell.path, ...shell.args, '-c', 'eval " $1"', 'bash', remote.command]
  return `${ENTER(remote.cwd, `echo "${mark} gone" >&2; exit 1`)}
${remote.around?.before ?? ''}
${OWN_START}echo "${mark} $$ $__hermes_start" >&2
( ${exportLines(remote.env, remote.inherited)}
exec ${(remote.pty ? onTerminal(args) : args).map(quote).join(' ')} ) 2>&1
__hermes_status=$?
${remote.around?.after ?? ''}
exit $__hermes_status`
}

/** @see https://man7.org/linux/man-pages/man1/script.1.html */
function onTerminal(args: readonly string[]): string[] {
  const size = `stty cols ${SCREEN.cols} rows ${SCREEN.rows} 2>/dev/null`
  return ['env', `TERM=${SCREEN.name}`, 'script', '-qefc', `${size}; exec ${args.map(quote).join(' ')}`, '/dev/null']
}
