import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { Launcher } from './launcher.js'

const MARK = 'HERMES_GUARDED'
/** Fewer shells at once are not worth the memory of one more process. */
const LAUNCHED_FROM = 8

// Reads "+ group" and "- group" lines. When the agent is gone, however it went, the pipe ends and the groups left are ended. A group may
// name the socket that what it starts has among its variables ("+ group socket"): by it daemons are found that left the group, on Linux.
// A group is told of by itself, so that the line that lets it go may come first. One in a process namespace is told of by the agent; what dies
// between the start and that line is found by the mark, "$1", among the variables of what draws its bounds. "end group" lets it go as well, and
// ends it: one of an environment that is closed while others have the same watcher.
const SCRIPT = `trap '' HUP INT TERM
live=' ' gone=' '
while read -r op id socket; do
  case $op in
    +) case $gone in
      *" $id "*) gone="\${gone%% $id *} \${gone#* $id }" ;;
      *) live="$live$id "; eval "socket_$id=\\$socket" ;;
    esac ;;
    -|end)
      case $live in
        *" $id "*) live="\${live%% $id *} \${live#* $id }"; unset "socket_$id" ;;
        *) gone="$gone$id " ;;
      esac
      if [ "$op" = end ]; then (kill -s TERM -- "-$id"; sleep 2; kill -s KILL -- "-$id") & fi ;;
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

/** The shell that waits for the agent's end of a pipe to close. */
class Watcher {
  readonly #child: ChildProcess
  #launcher: Launcher | null = null

  constructor(mark: string) {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', mark], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // Without a watcher commands run all the same; only a crash would leave them behind.
    child.on('error', () => undefined)
    child.stdin.on('error', () => undefined)
    child.unref()
    ;(child.stdin as unknown as { unref?: () => void }).unref?.()
    this.#child = child
  }

  /** `null` where it was not started, or is gone. */
  get channel(): Writable | null {
    const { stdin, pid } = this.#child
    return pid === undefined || stdin === null || stdin.destroyed ? null : stdin
  }

  /** Started with the first look; `null` until it runs. */
  launcher(): Launcher | null {
    const { channel } = this
    if (!channel) return null
    if (!this.#launcher || this.#launcher.isClosed) this.#launcher = new Launcher(channel)
    return this.#launcher.isReady ? this.#launcher : null
  }

  write(line: string): void {
    this.#child.stdin?.write(line)
  }

  /** What it still knows of is ended. */
  close(): void {
    this.#launcher?.close()
    this.#child.stdin?.end('close\n')
  }
}

/** One watcher for the environments of a program that draw no bounds: each start of a program holds the event loop up. It goes with the last of them. */
export class SharedWatcher {
  #watcher: Watcher | null = null
  readonly #users = new Set<OrphanGuard>()

  /** How many environments have run a command and are open. */
  get size(): number {
    return this.#users.size
  }

  /** For the first command of an environment. One that is gone is replaced. */
  take(user: OrphanGuard, mark: string): Watcher {
    this.#users.add(user)
    if (!this.#watcher?.channel) this.#watcher = new Watcher(mark)
    return this.#watcher
  }

  leave(user: OrphanGuard): void {
    this.#users.delete(user)
    if (this.#users.size > 0) return
    this.#watcher?.close()
    this.#watcher = null
  }
}

/**
 * Ends foreground process groups when the agent dies without doing so, even by SIGKILL: one small shell, started with the first
 * command that no namespace holds, that waits for the agent's end of a pipe to close. Costs a command one short write.
 */
export class OrphanGuard {
  /** The variable of a program that tells nobody of its group. */
  readonly mark: Readonly<Record<string, string>> = { [MARK]: randomBytes(16).toString('hex') }
  readonly #shared: SharedWatcher | null
  #watcher: Watcher | null = null
  /** Told of while there is no watcher. */
  readonly #groups = new Map<number, string>()
  /** That told the watcher of themselves and were not let go. */
  readonly #begun = new Set<number>()

  /** `shared`: where no program is marked. Default: a watcher of its own. */
  constructor(shared: SharedWatcher | null = null) {
    this.#shared = shared
  }

  /**
   * The pipe a new group writes its "+ group" line to before it does anything else: no kill of the agent falls between start and
   * registration, and the watcher sees the end of the pipe only once every new group has let go of it. `null` without a watcher.
   */
  channel(): Writable | null {
    if (!this.#watcher || (this.#shared && !this.#watcher.channel)) {
      const mark = `${MARK}=${this.mark[MARK]}`
      this.#watcher = this.#shared ? this.#shared.take(this, mark) : new Watcher(mark)
      for (const line of this.#groups.values()) this.#watcher.write(line)
      this.#groups.clear()
    }
    return this.#watcher.channel
  }

  /**
   * Tells of a group whose process namespace ends with the agent; `socket` is the one that what it starts has among its variables. No watcher is
   * started for it alone: only when something of the namespace goes on does one have to end the rest.
   */
  add(group: number, socket?: string): void {
    const line = `+ ${group}${socket === undefined ? '' : ` ${socket}`}\n`
    if (this.#watcher) this.#watcher.write(line)
    else this.#groups.set(group, line)
  }

  /** What starts programs in place of this one, where many environments run commands: each start holds up all of them. */
  launcher(): Launcher | null {
    if (!this.#shared || this.#shared.size < LAUNCHED_FROM || !this.channel()) return null
    return this.#watcher?.launcher() ?? null
  }

  /** Notes a group that tells of itself on the channel. */
  begun(group: number): void {
    this.#begun.add(group)
  }

  remove(group: number): void {
    this.#groups.delete(group)
    this.#begun.delete(group)
    this.#watcher?.write(`- ${group}\n`)
  }

  /** Lets the watcher go; groups still added are ended by it. */
  close(): void {
    this.#groups.clear()
    if (this.#shared) {
      for (const group of this.#begun) this.#watcher?.write(`end ${group}\n`)
      this.#shared.leave(this)
    } else this.#watcher?.close()
    this.#begun.clear()
    this.#watcher = null
  }
}
