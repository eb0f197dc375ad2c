import { createHash, randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { DirectoryEntry, Environment, FileStat } from '@hermes/contracts/environment'
import { quote } from '../shell/command-text.js'
import type { StatFlavor } from './probe-script.js'
import { remoteFileError, remoteSystemCode } from './remote-error.js'
import type { RemoteHost } from './remote-host.js'
import { runScript } from './run-script.js'

const KINDS: Readonly<Record<string, DirectoryEntry['type']>> = { f: 'file', d: 'directory', l: 'link' }

/** Files on the other side; paths are absolute. The promises are those of `Environment`. */
export class RemoteFiles {
  readonly #host: RemoteHost
  readonly #flavor: StatFlavor

  constructor(host: RemoteHost, flavor: StatFlavor) {
    this.#host = host
    this.#flavor = flavor
  }

  async read(
    path: string,
    { offset = 0, length }: { readonly offset?: number; readonly length?: number } = {},
  ): Promise<Uint8Array | null> {
    const limit = length === undefined || length === Number.POSITIVE_INFINITY ? null : length
    return this.#look(path, 'read', readScript(checked(path, 'read'), offset, limit))
  }

  async stat(path: string): Promise<FileStat | null> {
    const printed = await this.#look(path, 'look at', statScript(checked(path, 'look at'), this.#flavor))
    return printed && parseStat(printed.toString('utf8'))
  }

  async list(path: string): Promise<readonly DirectoryEntry[] | null> {
    const printed = await this.#look(path, 'list', listScript(checked(path, 'list')))
    if (printed === null) return null
    return printed
      .toString('utf8')
      .split('\0')
      .filter((text) => text !== '')
      .map((text) => ({ name: text.slice(1), type: KINDS[text[0]!] ?? 'other' }) as const)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  async realpath(path: string): Promise<string> {
    const doing = 'follow the links of'
    const { ok, stdout, stderr } = await runScript(this.#host, realpathScript(checked(path, doing)))
    if (!ok) throw remoteFileError(stderr, doing, path)
    return posix.normalize(stdout.toString('utf8'))
  }

  async write(
    path: string,
    bytes: Uint8Array,
    { mode, ifVersion, noLinks }: NonNullable<Parameters<Environment['write']>[3]> = {},
  ): Promise<FileStat> {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const id = randomBytes(6).toString('hex')
    const request = { path: checked(path, 'write'), size: bytes.length, sha256, id }
    const printed = await this.#do(
      path,
      'write',
      writeScript({ ...request, mode, ifVersion, noLinks }, this.#flavor),
      bytes,
    )
    return parseStat(printed.toString('utf8'))
  }

  async mkdir(path: string): Promise<void> {
    await this.#do(path, 'make the directory', mkdirScript(checked(path, 'make the directory')))
  }

  async rename(from: string, to: string, options: LinkOptions = {}): Promise<void> {
    const script = renameScript(checked(from, 'rename'), checked(to, 'rename'), options)
    await this.#do(`${from} to ${to}`, 'rename', script)
  }

  async remove(path: string, options: LinkOptions = {}): Promise<void> {
    await this.#do(path, 'remove', removeScript(checked(path, 'remove'), options))
  }

  /** What is missing is `null`. */
  async #look(path: string, doing: string, script: string): Promise<Buffer | null> {
    const { ok, stdout, stderr } = await runScript(this.#host, script)
    if (ok) return stdout
    if (!stderr.includes('HERMES:') && remoteSystemCode(stderr) === 'ENOENT') return null
    throw remoteFileError(stderr, doing, path)
  }

  async #do(path: string, doing: string, script: string, input?: Uint8Array): Promise<Buffer> {
    const { ok, stdout, stderr } = await runScript(this.#host, script, input)
    if (!ok) throw remoteFileError(stderr, doing, path)
    return stdout
  }
}

function checked(path: string, doing: string): string {
  if (!path.includes('\0')) return path
  throw new HermesError(`Cannot ${doing} ${path.replaceAll('\0', '\\0')}: the path holds a null character.`, {
    code: 'environment.invalid_path',
    details: { path },
  })
}

const FILE_TYPE_BITS = 0o170000
const REGULAR = 0o100000
const DIRECTORY = 0o040000

/** Reads mode (hexadecimal), size, modification and change time in seconds, and inode; the whole text is the version. */
function parseStat(text: string): FileStat {
  const version = text.trimEnd()
  const [mode = '0', size = '0', modified = '0'] = version.split(/\s/)
  const bits = Number.parseInt(mode, 16)
  const kind = bits & FILE_TYPE_BITS
  return {
    type: kind === REGULAR ? 'file' : kind === DIRECTORY ? 'directory' : 'other',
    sizeBytes: Number(size),
    modifiedMs: Math.floor(Number(modified) * 1000),
    mode: bits & 0o7777,
    version,
  }
}

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

function readScript(path: string, offset: number, length: number | null): string {
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

function statScript(path: string, flavor: StatFlavor): string {
  return `p=${quote(path)}
${looks(flavor)}
[ -e "$p" ] || { ls -Ld -- "$p" >/dev/null; exit 1; }
look "$p"`
}

/** Prints a letter for the kind and the name of each entry, each closed by a null character. */
function listScript(path: string): string {
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

function realpathScript(path: string): string {
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
function writeScript({ path, size, sha256, id, mode, ifVersion, noLinks }: WriteRequest, flavor: StatFlavor): string {
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

function mkdirScript(path: string): string {
  return `mkdir -p -- ${quote(path)}`
}

/** Whether the folders of the paths had no links when leave was given. */
interface LinkOptions {
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
function renameScript(from: string, to: string, options: LinkOptions = {}): string {
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

function removeScript(path: string, options: LinkOptions = {}): string {
  return `${looks('gnu')}${withoutLinks([path], options)}
p=${quote(path)}
there "$p" || exit 1
if [ -d "$p" ] && [ ! -L "$p" ]; then rmdir -- "$p"; else rm -f -- "$p"; fi`
}
