import { OWN_START } from '../remote/kill-script.js'
import { quote } from '../shell/command-text.js'

// A job is a script that runs by itself over there, in a folder of its own: what it prints goes to parts named by the position of their
// first byte, and whoever asks takes what is new. So nothing is lost with a request, a connection or this program.

/** What is kept of output that nobody asks for. */
const KEPT_KIB = 64 * 1024

/** Whether the keeper of a job is alive: its number, and that it is no later process with the same one. */
const IS_KEPT = `is_kept() {
  pid= start= now=
  read -r pid start < keeper 2>/dev/null || return 1
  kill -0 "$pid" 2>/dev/null || return 1
  IFS= read -r now 2>/dev/null < "/proc/$pid/stat" || return 0
  set -f; set -- \${now##*) }; set +f
  [ "\${20}" = "$start" ]
}
`

/**
 * Runs beside the job, in a session of its own. `run` gets a pipe as its output, which can be opened by name. Once the folder is gone the
 * rest is read and dropped, so that what the job left behind neither blocks nor gets SIGPIPE.
 */
const KEEPER = `cd -- "$1" || exit 1
${OWN_START}echo "$$ $__hermes_start" > keeper
feed() {
  exec 4<>ctl
  while read -r word <&4; do
    [ "$word" = end ] && break
    cat "in.$word" 2>/dev/null; rm -f "in.$word"
  done
}
run() { setsid /bin/sh ./run 2>report; echo $? > code; [ ! -p ctl ] || echo end 1<>ctl; }
keep() {
  at=0
  while [ -e keeper ]; do
    dd bs=65536 count=256 > "out.$at" 2>/dev/null
    size=$(($(wc -c < "out.$at" 2>/dev/null || echo 0)))
    [ "$size" -gt 0 ] || break
    at=$((at + size))
    [ "$at" -le ${KEPT_KIB * 1024} ] || while set -- $(du -sk . 2>/dev/null) && [ "\${1:-0}" -gt ${KEPT_KIB} ]; do
      set -- $(ls -1tr out.* 2>/dev/null); [ $# -gt 1 ] || break; rm -f -- "$1"
    done
  done
  if [ -e keeper ]; then : > closed; else exec cat > /dev/null; fi
}
if [ -p ctl ]; then feed | run; else run < in; fi | keep`

/** How a job gets its input: all of it at once, or piece by piece. */
type RemoteProcessInput = 'whole' | 'pieces'

/**
 * Starts `script` as the job in `folder` unless it was started already, so that asking twice does no harm. With `whole` its input is this
 * script's own. Exits with `HERMES:no_setsid` where there is no such program.
 */
export function startRemoteProcess(folder: string, script: string, input: RemoteProcessInput): string {
  return `command -v setsid >/dev/null || { echo HERMES:no_setsid >&2; exit 1; }
if (umask 077; mkdir -- ${quote(folder)}) 2>/dev/null; then
  cd -- ${quote(folder)} || exit 1
  (umask 077; ${input === 'whole' ? 'cat > in' : 'mkfifo ctl'}; : > out.0; : > report; printf %s ${quote(script)} > run) || exit 1
  setsid /bin/sh -c ${quote(KEEPER)} keeper ${quote(folder)} < /dev/null > /dev/null 2>&1 &
  while [ ! -s keeper ]; do sleep 0.01 2>/dev/null || sleep 1; done
else
  cd -- ${quote(folder)} || exit 1
fi
`
}

/** Waits until a job that was just started said which process it is, or ended, and prints its report and `code`. */
export function awaitRemoteProcess(folder: string): string {
  return `cd -- ${quote(folder)} || exit 1
round=0
until [ -s report ] || [ -s code ] || [ $round = 500 ]; do sleep 0.02 2>/dev/null || sleep 1; round=$((round + 1)); done
cat report; [ ! -s code ] || { printf 'code '; cat code; }`
}

interface RemoteProcessQuestion {
  readonly folder: string
  /** How many bytes of output are known. */
  readonly position: number
  /** How long to wait for something new, in twentieths of a second. */
  readonly ticks: number
  /** Whether the folder goes once all is told. */
  readonly tidy: boolean
}

/** The most that one answer brings. */
const ANSWER_BYTES = 4 * 1024 * 1024

/**
 * Prints a line `POSITION STATE CODE` and after it the output from `POSITION` on, which is later than asked when what is between is not
 * kept any more. `STATE` is `running`, `ended` when this is all there is, or `gone`; `CODE` is `-` when nobody knows it.
 */
export function askRemoteProcess({ folder, position, ticks, tidy }: RemoteProcessQuestion): string {
  return `cd -- ${quote(folder)} 2>/dev/null || { echo '${position} gone -'; exit 0; }
at=${position} ticks=${ticks}
${IS_KEPT}
find_part() {
  part= next=
  for file in out.*; do
    first=\${file#out.}
    [ "$first" != '*' ] || continue
    if [ "$first" -le "$at" ]; then
      if [ -z "$part" ] || [ "$first" -gt "$part" ]; then [ -z "$part" ] || rm -f "out.$part"; part=$first; else rm -f "$file"; fi
    elif [ -s "$file" ] && { [ -z "$next" ] || [ "$first" -lt "$next" ]; }; then next=$first; fi
  done
  have=0
  [ ! -s "out.$part" ] || have=$((part + $(wc -c < "out.$part") - at))
  if [ "$have" -le 0 ] && [ -n "$next" ]; then part=$next at=$next; have=$(($(wc -c < "out.$part"))); fi
}
naps=0
nap() {
  naps=$((naps + 1))
  if [ $naps -lt 6 ]; then sleep 0.01 2>/dev/null || sleep 1; else sleep 0.05 2>/dev/null || sleep 1; fi
}
state=running code=- patience=6
while :; do
  find_part
  if [ -s code ] || [ -e closed ] || ! is_kept; then
    # What it left behind may hold its output: a moment for what was its own.
    while [ -s code ] && [ ! -e closed ] && [ $patience -gt 0 ]; do nap; patience=$((patience - 1)); done
    find_part
    [ "$have" -gt ${ANSWER_BYTES} ] || [ -n "$next" ] || state=ended
    break
  fi
  if [ "$have" -gt 0 ]; then
    [ "$have" -lt 65536 ] && [ -z "$next" ] || break
    # Most commands end a moment after their first output: one answer for both.
    [ $ticks -lt 4 ] || ticks=4
  fi
  [ $ticks -gt 0 ] || break
  ticks=$((ticks - 1))
  nap
done
[ ! -s code ] || [ $state = running ] || read -r code < code
echo "$at $state $code"
[ -z "$part" ] || [ "$have" -le 0 ] || tail -c +$((at - part + 1)) "out.$part" | head -c ${ANSWER_BYTES}
${tidy ? `[ $state != ended ] || { cd / && rm -rf -- ${quote(folder)}; }` : ''}`
}

/** Gives the next piece of input, numbered from 0, which this script has as its own. */
export function feedRemoteProcess(folder: string, piece: number): string {
  return `cd -- ${quote(folder)} && { [ -e in.${piece} ] || { (umask 077; cat > in.${piece}.new) && mv in.${piece}.new in.${piece}; }; } && echo ${piece} 1<>ctl`
}

/** Closes a job's input. */
export function endRemoteProcessInput(folder: string): string {
  return `cd -- ${quote(folder)} && echo end 1<>ctl`
}

/** Forgets a job; what still runs of it writes unheard. */
export function dropRemoteProcess(folder: string): string {
  return `rm -rf -- ${quote(folder)}`
}
