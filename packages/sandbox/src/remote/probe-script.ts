import { quote } from '../shell/command-text.js'

/** How the other side's `stat` wants its format. */
export type StatFlavor = 'gnu' | 'busybox' | 'bsd'

/** What the other side is like, as {@link probeScript} found it. */
export interface RemoteFacts {
  readonly home: string
  readonly user: string
  readonly os: string
  readonly shell: string
  readonly stat: StatFlavor
  /** Whether it has a program that gives pseudo-terminals. */
  readonly pty: boolean
  /** A directory of ours, for the user alone. */
  readonly scratch: string
  /** What the shell saved of its directory and variables; see `parseShellState`. */
  readonly state: Buffer
}

/**
 * Finds out what {@link RemoteFacts} holds and makes its scratch directory. `login` takes the variables of a login shell, unless its start-up
 * files end it or take longer than `loginSeconds` (default 8). Exits with `HERMES:no_directory` when `cwd` (absolute, or from the home
 * directory) is not there.
 */
export function probeScript(cwd: string, login: boolean, loginSeconds = 8): string {
  return `home=\${HOME:-/}
case ${quote(cwd)} in /*) dir=${quote(cwd)} ;; *) dir=$home/${quote(cwd)} ;; esac
cd -- "$dir" 2>/dev/null || { echo "HERMES:no_directory $dir" >&2; exit 1; }
shell=$(command -v bash) || shell=/bin/sh
plain='' first=-l
case $shell in */bash) plain='--norc --noprofile' ;; esac
dump='{ command pwd; printf "\\\\0"; export -p; printf "\\\\0."; } >&4'
scratch=$(umask 077; mktemp -d "\${TMPDIR:-/tmp}/hermes-XXXXXXXX") || exit 1
${login ? logIn(loginSeconds) : ''}
[ -s "$scratch/env" ] || "$shell" $plain -c "$dump" 4> "$scratch/env" </dev/null
case $(stat -c %.9Y / 2>/dev/null) in
  *[0-9].[0-9]*) stat=gnu ;;
  *) if stat -c %Y / >/dev/null 2>&1; then stat=busybox; else stat=bsd; fi ;;
esac
pty=no
case $(script --version </dev/null 2>/dev/null) in *util-linux*) pty=yes ;; esac
name=$(. /etc/os-release 2>/dev/null; printf %s "$PRETTY_NAME")
printf '%s\\0' "$home" "$(id -un 2>/dev/null || id -u)" "$(uname -sr 2>/dev/null) ($name)" "$shell" "$stat" "$pty" "$scratch"
cat "$scratch/env"; rm -f "$scratch/env"`
}

/** Nothing of it holds the way open once the script has ended. */
const logIn = (
  seconds: number,
) => `"$shell" -l -c "cd -- \\"\\$1\\"; $dump" sh "$dir" 4> "$scratch/env" >/dev/null 2>&1 </dev/null &
login=$!
{ sleep ${seconds}; kill -s KILL $login; } >/dev/null 2>&1 </dev/null &
watch=$!
wait $login 2>/dev/null
kill $watch 2>/dev/null`

/** Reads what {@link probeScript} printed; `null` when it is not that. */
export function parseProbe(printed: Buffer): RemoteFacts | null {
  const texts: string[] = []
  let at = 0
  for (let count = 0; count < 7; count++) {
    const end = printed.indexOf(0, at)
    if (end === -1) return null
    texts.push(printed.toString('utf8', at, end))
    at = end + 1
  }
  const [home = '', user = '', os = '', shell = '', stat = '', pty = '', scratch = ''] = texts
  if (!scratch.startsWith('/')) return null
  return {
    home,
    user,
    os: os.replace(/ \(\)$/, ''),
    shell,
    stat: stat === 'gnu' || stat === 'bsd' ? stat : 'busybox',
    pty: pty === 'yes',
    scratch,
    state: printed.subarray(at),
  }
}
