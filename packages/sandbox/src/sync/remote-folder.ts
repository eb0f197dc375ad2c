import { randomBytes } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { RemoteHost } from '../remote/remote-host.js'
import { runScript } from '../remote/run-script.js'
import { quote } from '../shell/quote.js'
import { PASSED_OVER } from './local-folder.js'

type Way = Pick<RemoteHost, 'connect' | 'converse' | 'failure' | 'name'>

/** A file that goes over. */
export interface SentFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

const PRUNE = PASSED_OVER.map((name) => `-name ${name}`).join(' -o ')

const LIST = `find . \\( ${PRUNE} \\) -prune -o -type f -exec sh -c '
if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi' sh {} +`

/** Hashes of the files below a folder there, by their path from it; `null` when there is no such folder. */
export async function remoteHashes(way: Way, folder: string): Promise<ReadonlyMap<string, string> | null> {
  const script = `if [ -d ${quote(folder)} ]; then cd -- ${quote(folder)} && echo here && ${LIST}; else echo missing; fi`
  const [first, ...lines] = (await done(way, script)).toString('utf8').split('\n')
  if (first !== 'here') return null
  const found = lines.flatMap((line) => {
    const [, hash, path] = /^([0-9a-f]{64}) [ *]\.\/(.+)$/.exec(line) ?? []
    return hash && path ? [[path, hash] as const] : []
  })
  return new Map(found)
}

// The ends of a path in a line are no spaces, which the shell would drop.
/** Writes files below a folder there, each whole or not at all; the folder is made. */
export async function sendFiles(way: Way, folder: string, files: readonly SentFile[]): Promise<void> {
  const list = Buffer.from(
    files.map(({ path, bytes, isExecutable }) => `${bytes.length} ${isExecutable ? 755 : 644} ./${path}/\n`).join(''),
  )
  // All of it first, so that a connection that ends early changes nothing.
  const size = list.length + files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const script = `all=$(mktemp "\${TMPDIR:-/tmp}/hermes-sync-XXXXXXXX") || exit 1
trap 'rm -f -- "$all" "$all.list"' EXIT
cat > "$all"
[ "$(($(wc -c < "$all")))" = ${size} ] || { echo HERMES:cut >&2; exit 1; }
mkdir -p -- ${quote(folder)} && cd -- ${quote(folder)} || exit 1
head -c ${list.length} < "$all" > "$all.list"
at=${list.length + 1}
while IFS=' ' read -r size mode path; do
  path=\${path%/}
  mkdir -p -- "\${path%/*}" && tail -c +$at < "$all" | head -c "$size" > "$path.hermes-sync" || exit 1
  chmod "$mode" "$path.hermes-sync" && mv -f -- "$path.hermes-sync" "$path" || exit 1
  at=$((at + size))
done < "$all.list"`
  await done(way, script, Buffer.concat([list, ...files.map(({ bytes }) => bytes)]))
}

/** Fetches files below a folder there; what is missing by now is left out. */
export async function fetchFiles(way: Way, folder: string, paths: readonly string[]): Promise<readonly SentFile[]> {
  const mark = randomBytes(4).toString('hex')
  const script = `cd -- ${quote(folder)} || exit 1
while IFS= read -r path; do
  [ -f "./$path" ] && [ -r "./$path" ] || { echo "${mark} 0 -"; continue; }
  if [ -x "./$path" ]; then kind=x; else kind=f; fi
  size=$(($(wc -c < "./$path")))
  echo "${mark} $size $kind"; head -c "$size" < "./$path"
done`
  let rest = await done(way, script, Buffer.from(`${paths.join('\n')}\n`))
  return paths.flatMap((path) => {
    const end = rest.indexOf(10)
    const [, size, kind] =
      new RegExp(`^${mark} (\\d+) ([xf-])$`).exec(rest.toString('latin1', 0, Math.max(end, 0))) ?? []
    if (size === undefined) throw way.failure(null, 'a file came in part')
    const bytes = rest.subarray(end + 1, end + 1 + Number(size))
    rest = rest.subarray(end + 1 + Number(size))
    return kind === '-' ? [] : [{ path, bytes, isExecutable: kind === 'x' }]
  })
}

/** Removes files below a folder there; what is missing is fine. */
export async function removeRemote(way: Way, folder: string, paths: readonly string[]): Promise<void> {
  const script = `cd -- ${quote(folder)} || exit 1
while IFS= read -r path; do rm -f -- "./$path"; done`
  await done(way, script, Buffer.from(`${paths.join('\n')}\n`))
}

async function done(way: Way, script: string, input?: Uint8Array): Promise<Buffer> {
  const { ok, stdout, stderr } = await runScript(way, script, input)
  if (ok) return stdout
  const text = stderr.trim().split('\n').at(-1) ?? ''
  throw new HermesError(
    `Files could not be brought to ${way.name} or back${text === '' ? '' : `: ${text.replace(/\.$/, '')}`}.`,
    {
      code: 'environment.sync_failed',
      retryable: stderr.includes('HERMES:cut'),
    },
  )
}
