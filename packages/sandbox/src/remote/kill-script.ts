import type { RemoteProcessId } from '../processes/process-record.js'

/**
 * Sets `__hermes_rows` to a line for each process: number, parent, group, session, state, start time. Uses builtins where there is a
 * `/proc`, for small images have no `ps`.
 */
const LIST = `__hermes_list() {
  __hermes_rows=
  if [ -r /proc/self/stat ]; then
    for __hermes_file in /proc/[0-9]*/stat; do
      __hermes_text=
      { while IFS= read -r __hermes_part || [ -n "$__hermes_part" ]; do __hermes_text="$__hermes_text $__hermes_part"; done < "$__hermes_file"; } 2>/dev/null
      [ -n "$__hermes_text" ] || continue
      __hermes_pid=\${__hermes_file#/proc/} __hermes_pid=\${__hermes_pid%/stat}
      set -f; set -- \${__hermes_text##*) }; set +f
      __hermes_rows="$__hermes_rows$__hermes_pid $2 $3 $4 $1 \${20}
"
    done
  else
    __hermes_rows=$(ps -A -o pid= -o ppid= -o pgid= -o stat= | while read -r p pp g s; do echo "$p $pp $g $g $s -"; done)
  fi
}
`

/** Prints the start time of the shell itself as `-` or a number into `__hermes_start`. */
export const OWN_START = `__hermes_start=-
if [ -r /proc/$$/stat ]; then
  IFS= read -r __hermes_text < /proc/$$/stat
  set -f; set -- \${__hermes_text##*) }; set +f
  __hermes_start=\${20}
fi
`

/** Sets `__hermes_left` to 1 when the session of the shell has other members than itself. */
export const COUNT_LEFT = `${LIST}
__hermes_list
__hermes_left=0
while read -r p pp g sid state start; do
  [ "$sid" = "$$" ] && [ "$p" != "$$" ] && [ "$state" != Z ] && __hermes_left=1
done <<HERMES_ROWS
$__hermes_rows
HERMES_ROWS
`

/**
 * Ends each of `roots`, all their descendants and everything in their sessions: SIGTERM, then SIGKILL for what is left about a second
 * later, so that with the way there and back it is gone within two. The script ends when all are gone.
 */
export function killScript(roots: readonly RemoteProcessId[]): string {
  const wanted = roots.map(({ pid, startTime }) => `${pid}:${startTime}`).join(' ')
  return `${LIST}
roots=' ${wanted} ' known=' '
look() {
  __hermes_list
  tree=' '
  for root in $roots; do
    pid=\${root%%:*} was=\${root#*:} now=
    while read -r p pp g sid state start; do [ "$p" = "$pid" ] && now=$start; done <<HERMES_ROWS
$__hermes_rows
HERMES_ROWS
    [ -n "$now" ] && [ "$was" != - ] && [ "$now" != "$was" ] || tree="$tree$pid "
  done
  heads=$tree grown=1
  while [ $grown = 1 ]; do
    grown=0
    while read -r p pp g sid state start; do
      case "$state $tree" in Z*|X*|*" $p "*) continue ;; esac
      case "$heads" in *" $g "*|*" $sid "*) tree="$tree$p " grown=1; continue ;; esac
      case "$tree" in *" $pp "*) tree="$tree$p " grown=1 ;; esac
    done <<HERMES_ROWS
$__hermes_rows
HERMES_ROWS
  done
  alive= fresh=
  while read -r p pp g sid state start; do
    case $state in Z*|X*|'') continue ;; esac
    case "$known" in *" $p:$start "*) alive="$alive $p"; continue ;; esac
    case "$tree" in *" $p "*) known="$known$p:$start " alive="$alive $p" fresh="$fresh $p" ;; esac
  done <<HERMES_ROWS
$__hermes_rows
HERMES_ROWS
}
for pause in 0.01 0.02 0.04 0.08 0.1 0.1 0.1 0.1; do
  look
  [ -z "$alive" ] && exit 0
  [ -z "$fresh" ] || kill -s TERM $fresh 2>/dev/null
  sleep $pause 2>/dev/null || sleep 1
done
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  look
  [ -z "$alive" ] && exit 0
  kill -s KILL $alive 2>/dev/null
  sleep 0.02 2>/dev/null || sleep 1
done
exit 0
`
}
