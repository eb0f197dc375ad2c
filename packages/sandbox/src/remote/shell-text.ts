import { quote } from '../shell/command-text.js'

/** Reads a script from the first line of standard input and runs it, so that nothing of it shows in a list of processes. */
const BOOTSTRAP = 'IFS= read -r __hermes_line && eval "$(printf %b "$__hermes_line")"'

/**
 * The command line that starts any script; works whatever the login shell of the other side is. That shell is replaced, so that the
 * script leads the session.
 */
export const START_LINE = `exec /bin/sh -c ${quote(BOOTSTRAP)}`

/** `script` as the line that {@link START_LINE} reads; what follows on standard input is the script's own. */
export function scriptLine(script: string): string {
  // Most of these signs are line feeds, and one sign at a time takes three times as long.
  const encoded = script
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', octal('\n'))
    .replace(/[\u0001-\u001f\u007f]/g, octal)
  return `${encoded}\n`
}

const octal = (character: string): string => `\\0${character.charCodeAt(0).toString(8).padStart(3, '0')}`

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Lines that give the shell exactly the variables `env`; `inherited` names those it may have by itself. */
export function exportLines(env: Readonly<Record<string, string>>, inherited: Iterable<string>): string {
  const surplus = [...inherited].filter((name) => NAME.test(name) && !(name in env))
  const exports = Object.entries(env).filter(([name]) => NAME.test(name) && !READ_ONLY.has(name))
  return [
    ...surplus.filter((name) => !READ_ONLY.has(name)).map((name) => `unset ${name}`),
    ...exports.map(([name, value]) => `export ${name}=${quote(value)}`),
  ].join('\n')
}

/** Variables of bash that cannot be set; exporting them is an error. */
const READ_ONLY = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])
