import { posix } from 'node:path'
import { quote } from '../shell/quote.js'
import type { StatFlavor } from './probe-script.js'

// Each script is one round trip. A failure is told by the words of the system (see `remoteSystemCode`) or by a line HERMES:reason.

const FORMATS: Readonly<Record<StatFlavor, string>> = {
  gnu: `stat -L -c '%f %s %.9Y %.9Z %i' -- "$1"`,
  // It knows whole seconds only: the content of a small file tells two versions within one.
  busybox: `stat -L -c '%f %s %Y %Z %i' -- "$1" || return
  for sum in cksum md5sum sha256sum; do
    [ -f "$1" ] && command -v $sum >/dev/null || continue
    head -c 1048576 < "$1" | $sum
    break
  done`,
  bsd: `stat -L -f '%Xp %z %Fm %Fc %i' -- "$1"`,
}

const looks = (flavor: StatFlavor) => `look() { ${FORMATS[flavor]}; }
there() { [ -e "$1" ] || [ -L "$1" ] || ls -d -- "$1" >/dev/null; }
file() {
  if [ -d "$1" ]; then echo HERMES:is_directory >&2; exit 1; fi
  if [ -e "$1" ] && [ ! -f "$1" ]; then echo HERMES:not_a_file >&2; exit 1; fi
}
`

/** Follows links as far as the path exists into `real`; what is missing is appended, a dangling link followed. */
const FOLLOW = `follow() {
  at=$1 rest= links=0
  while :; do
    if [ -d "$at" ]; then
      real=$(CDPATH= cd -P -- "$at" && pwd -P && printf .) || exit 1
      real=\${real%??}
      case $real in /) real= ;; esac
      real=$real$rest
      [ -n "$real" ] || real=/
      return
    fi
    if [ -L "$at" ]; then
      links=$((links+1))
      [ $links -le 40 ] || { echo 'Too many levels of symbolic links' >&2; exit 1; }
      to=$(readlink -- "$at" && printf .) || exit 1
      to=\${to%??}
      case $to in /*) at=$to ;; *) at=\${at%/*}/$to ;; esac
      continue
    fi
    rest=/\${at##*/}$rest at=\${at%/*}
    [ -n "$at" ] || at=/
  done
}
`

export function readScript(path: string, offset: number, length: number | null): string {
  const whole = offset === 0 && length === null
  const from = offset === 0 ? 'cat < "$p"' : `tail -c +${offset + 1} < "$p"`
  const part = length === null ? from : offset === 0 ? `head -c ${length} < "$p"` : `${from} | head -c ${length}`
  return `p=${quote(path)}
${looks('gnu')}
[ -e "$p" ] || { ls -Ld -- "$p" >/dev/null; exit 1; }
file "$p"
[ -r "$p" ] || { cat < "$p"; exit 1; }
${whole ? from : part}`
}

export function statScript(path: string, flavor: StatFlavor): string {
  return `p=${quote(path)}
${looks(flavor)}
[ -e "$p" ] || { ls -Ld -- "$p" >/dev/null; exit 1; }
look "$p"`
}

/** Prints a letter for the kind and the name of each entry, each closed by a null character. */
export function listScript(path: string): string {
  return `p=${quote(path)}
[ -e "$p" ] || { ls -Ld -- "$p" >/dev/null; exit 1; }
[ -d "$p" ] || { echo 'Not a directory' >&2; exit 1; }
[ -r "$p" ] || { echo 'Permission denied' >&2; exit 1; }
CDPATH= cd -- "$p" || exit 1
for f in * .[!.]* ..?*; do
  if [ -L "$f" ]; then k=l
  elif [ -f "$f" ]; then k=f
  elif [ -d "$f" ]; then k=d
  elif [ -e "$f" ]; then k=o
  else continue; fi
  printf '%s%s\\0' $k "$f"
done`
}

export function realpathScript(path: string): string {
  return `${FOLLOW}
follow ${quote(path)}
printf %s "$real"`
}

interface WriteRequest {
  readonly path: string
  /** How many bytes come on standard input, and their SHA-256 in hexadecimal. */
  readonly size: number
  readonly sha256: string
  /** Unique; part of the temporary file's name. */
  readonly id: string
  readonly mode: number | undefined
  readonly ifVersion: string | undefined
  readonly noLinks: boolean | undefined
}

/**
 * Writes standard input to a temporary file beside the target, then renames it over; prints what {@link statScript} does. What arrived
 * is compared with what was sent before the old file goes: by its hash where a program for that is there, else by its size.
 */
export function writeScript(
  { path, size, sha256, id, mode, ifVersion, noLinks }: WriteRequest,
  flavor: StatFlavor,
): string {
  const owner = flavor === 'bsd' ? `stat -f '%Lp %u:%g'` : `stat -c '%a %u:%g'`
  const fresh = mode === undefined ? '' : `chmod ${mode.toString(8)} "$t" || fail`
  const check =
    ifVersion === undefined
      ? ''
      : `[ -e "$real" ] || { echo HERMES:removed >&2; fail; }
[ "$(look "$real")" = ${quote(ifVersion)} ] || { echo HERMES:changed >&2; fail; }`
  return `${FOLLOW}${looks(flavor)}
follow ${quote(path)}
${noLinks ? `[ "$real" = ${quote(path)} ] || { echo HERMES:changed >&2; exit 1; }` : ''}
file "$real"
d=\${real%/*}
mkdir -p -- "$d/" || exit 1
t=$d/.hermes-${id}.tmp
fail() { rm -f -- "$t"; exit 1; }
if [ -e "$real" ] || ${mode === undefined ? 'false' : 'true'}; then (umask 077; cat > "$t") || fail; else cat > "$t" || fail; fi
[ "$(($(wc -c < "$t")))" = ${size} ] || { echo HERMES:cut >&2; fail; }
if command -v sha256sum >/dev/null; then sum=$(sha256sum < "$t")
elif command -v shasum >/dev/null; then sum=$(shasum -a 256 < "$t")
else sum=${sha256}; fi
case $sum in ${sha256}*) ;; *) echo HERMES:damaged >&2; fail ;; esac
if [ -e "$real" ]; then
  own=$(${owner} -- "$real") || fail
  chown "\${own#* }" "$t" 2>/dev/null
  chmod "\${own%% *}" "$t" || fail
else
  ${fresh || ':'}
fi
${check}
mv -f -- "$t" "$real" || fail
look "$real"`
}

export function mkdirScript(path: string): string {
  return `mkdir -p -- ${quote(path)}`
}

/** Whether the folders of the paths had no links when leave was given. */
export interface LinkOptions {
  readonly noLinks?: boolean
}

const withoutLinks = (paths: readonly string[], { noLinks = false }: LinkOptions): string =>
  noLinks
    ? `${FOLLOW}${paths
        .map((path) => posix.dirname(path))
        .map(
          (folder) =>
            `follow ${quote(folder)}\n[ "$real" = ${quote(folder)} ] || { echo HERMES:changed >&2; exit 1; }\n`,
        )
        .join('')}`
    : ''

/** As rename(2): a directory is no target for a file, and a link is replaced, not followed. */
export function renameScript(from: string, to: string, options: LinkOptions = {}): string {
  return `${looks('gnu')}${withoutLinks([from, to], options)}
from=${quote(from)} to=${quote(to)}
there "$from" || exit 1
d=\${to%/*}
mkdir -p -- "$d/" || exit 1
if [ -L "$to" ]; then rm -f -- "$to" || exit 1
elif [ -d "$to" ]; then
  if [ -d "$from" ] && [ ! -L "$from" ]; then rmdir -- "$to" || exit 1; else echo 'Is a directory' >&2; exit 1; fi
fi
mv -f -- "$from" "$to"`
}

export function removeScript(path: string, options: LinkOptions = {}): string {
  return `${looks('gnu')}${withoutLinks([path], options)}
p=${quote(path)}
there "$p" || exit 1
if [ -d "$p" ] && [ ! -L "$p" ]; then rmdir -- "$p"; else rm -f -- "$p"; fi`
}
