import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'

const MARK = 'HERMES_GUARDED'

// Reads "+ group" and "- group" lines. When the agent is gone, however it went, the pipe ends and the groups left are ended. A group may
// name the socket that what it starts has among its variables ("+ group socket"): by it daemons are found that left the group, on Linux.
// A group is told of by itself, so that the line that lets it go may come first. One in a process namespace is told of by the agent; what dies
// between the start and that line is found by the mark, "$1", among the variables of what draws its bounds.
const SCRIPT = `trap '' HUP INT TERM
live=' ' gone=' '
while read -r op id socket; do
  case $op in
    +) case $gone in
      *" $id "*) gone="\${gone%% $id *} \${gone#* $id }" ;;
      *) live="$live$id "; eval "socket_$id=\\$socket" ;;
    esac ;;
    -) case $live in
      *" $id "*) live="\${live%% $id *} \${live#* $id }"; unset "socket_$id" ;;
      *) gone="$gone$id " ;;
    esac ;;
    close) [ "$live" = ' ' ] && exit ;;
  esac
done
marks=$1
for id in $live; do
  eval "socket=\\\${socket_$id-}"
  [ -z "$socket" ] || marks="\${marks:+$marks
}HERMES_RPC_SOCKET=$socket"
done
end() {
  for id in $live; do kill -s "$1" -- "-$id"; done
  for file in $(grep -lzxF -e "$marks" /proc/[0-9]*/environ 2>/dev/null); do
    [ -O "$file" ] || continue
    id=\${file#/proc/}
    id=\${id%/environ}
    kill -s "$1" "$id"
    kill -s "$1" -- "-$id"
  done
}
end TERM
sleep 2
end KILL`

/**
 * Ends foreground process groups when the agent dies without doing so, even by SIGKILL: one small shell, started with the first
 * command that no namespace holds, that waits for the agent's end of a pipe to close. Costs a command one short write.
 */
export class OrphanGuard {
  /** The variable of a program that tells nobody of its group. */
  readonly mark: Readonly<Record<string, string>> = { [MARK]: randomBytes(16).toString('hex') }
  #watcher: ChildProcess | null = null
  /** Told of while there is no watcher. */
  readonly #groups = new Map<number, string>()

  /**
   * The pipe a new group writes its "+ group" line to before it does anything else: no kill of the agent falls between start and
   * registration, and the watcher sees the end of the pipe only once every new group has let go of it. `null` without a watcher.
   */
  channel(): Writable | null {
    if (!this.#watcher) {
      this.#watcher = this.#start()
      for (const line of this.#groups.values()) this.#watcher.stdin?.write(line)
      this.#groups.clear()
    }
    const { stdin, pid } = this.#watcher
    return pid === undefined || stdin === null || stdin.destroyed ? null : stdin
  }

  /**
   * Tells of a group whose process namespace ends with the agent; `socket` is the one that what it starts has among its variables. No watcher is
   * started for it alone: only when something of the namespace goes on does one have to end the rest.
   */
  add(group: number, socket?: string): void {
    const line = `+ ${group}${socket === undefined ? '' : ` ${socket}`}\n`
    if (this.#watcher) this.#watcher.stdin?.write(line)
    else this.#groups.set(group, line)
  }

  remove(group: number): void {
    this.#groups.delete(group)
    this.#watcher?.stdin?.write(`- ${group}\n`)
  }

  /** Lets the watcher go; groups still added are ended by it. */
  close(): void {
    this.#groups.clear()
    this.#watcher?.stdin?.end('close\n')
    this.#watcher = null
  }

  #start(): ChildProcess {
    const watcher = spawn('/bin/sh', ['-c', SCRIPT, 'sh', `${MARK}=${this.mark[MARK]}`], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // Without a watcher commands run all the same; only a crash would leave them behind.
    watcher.on('error', () => undefined)
    watcher.stdin.on('error', () => undefined)
    watcher.unref()
    ;(watcher.stdin as unknown as { unref?: () => void }).unref?.()
    return watcher
  }
}
