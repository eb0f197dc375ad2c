import { homedir, tmpdir, userInfo } from 'node:os'
import { chooseProfile, takeProfileFlag } from '@hermes/config'
import { errorLine, HermesError } from '@hermes/contracts'

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type EndingSignal = keyof typeof SIGNAL_EXIT
const EXIT_USAGE = 2

/**
 * Reads the world of `host` once, runs `main` with the arguments of the command line, and ends the process with the exit code it
 * gives once all output is written. A signal that nobody waits for, or a second one, ends the process at once. In a folder that is gone it
 * says so on standard error and ends with 1. The profile is chosen before: from then on `HERMES_HOME` names its home, and `-p NAME` is no longer
 * among the arguments; a profile that does not exist ends it with 2.
 */
export async function runApp(
  host: NodeJS.Process,
  main: (argv: readonly string[], io: Io) => Promise<number>,
): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(host.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  const cwd = workingFolder(host)
  if (cwd === null) {
    host.stderr.write('The current folder does not exist any more. Change to another one, then try again.\n')
    host.exitCode = 1
    return
  }
  const userHome = env['HOME'] || homedir()
  const started = await inProfile({ argv: host.argv.slice(2), env, userHome })
  if (typeof started === 'string') {
    host.stderr.write(`hermes: ${started}\n`)
    host.exitCode = EXIT_USAGE
    return
  }
  const signals = listen(host)
  const exitCode = await main(started.argv, {
    stdin: host.stdin,
    stdout: createOutput(host.stdout, env),
    stderr: createOutput(host.stderr, env),
    env: started.env,
    cwd,
    userHome,
    user: userName(env),
    nodePath: host.execPath,
    script: host.argv[1] ?? '',
    tempDir: tmpdir(),
    onInterrupt: signals.onInterrupt,
    onSignal: signals.onSignal,
  })
  const endedBy = signals.endedBy()
  host.exitCode = endedBy ? SIGNAL_EXIT[endedBy] : exitCode
  await flushed(host.stdout)
  await flushed(host.stderr)
  host.exit()
}

interface Start {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The start in the home of its profile, for programs that it starts too; a text when it cannot be. */
async function inProfile({ argv, env, userHome }: Start & { readonly userHome: string }): Promise<Start | string> {
  try {
    const { argv: rest, flag } = takeProfileFlag(argv)
    const { home, name, isNamed } = await chooseProfile({ env, userHome, flag })
    return { argv: rest, env: isNamed ? { ...env, HERMES_HOME: home, HERMES_PROFILE: name } : env }
  } catch (error) {
    // A home that cannot be one is said by what opens it.
    return HermesError.isInstance(error) && error.code === 'config.bad_home' ? { argv, env } : errorLine(error)
  }
}

/** `null` when it was removed. */
function workingFolder(host: NodeJS.Process): string | null {
  try {
    return host.cwd()
  } catch {
    return null
  }
}

type Signals = Pick<Io, 'onInterrupt' | 'onSignal'> & { endedBy(): EndingSignal | null }

function listen(host: NodeJS.Process): Signals {
  const listeners = { SIGHUP: new Set<() => void>(), SIGUSR2: new Set<() => void>() }
  const handlers = new Set<(signal: NodeJS.Signals) => unknown>()
  let interrupted = 0
  let endedBy: EndingSignal | null = null
  // Where nobody wants it, it ends the process as ever.
  let hears = false
  const onSignal = (signal: EndingSignal) => {
    if (signal === 'SIGHUP' && listeners.SIGHUP.size > 0) {
      for (const handler of listeners.SIGHUP) handler()
      return
    }
    interrupted++
    if (signal !== 'SIGINT') endedBy = signal
    if (interrupted > 1 || handlers.size === 0) host.exit(SIGNAL_EXIT[signal])
    for (const handler of [...handlers]) if (handler(signal) === true) endedBy = null
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(signal, () => onSignal(signal))
  return {
    endedBy: () => endedBy,
    onInterrupt: (handler) => {
      interrupted = 0
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    onSignal: (signal, handler) => {
      if (signal === 'SIGUSR2' && !hears) {
        hears = true
        host.on('SIGUSR2', () => {
          for (const one of listeners.SIGUSR2) one()
        })
      }
      listeners[signal].add(handler)
      return () => listeners[signal].delete(handler)
    },
  }
}

function userName(env: Readonly<Record<string, string>>): string {
  try {
    return userInfo().username
  } catch {
    return env['USER'] ?? 'user'
  }
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve()
    else stream.write('', () => resolve())
  })
}

/** What an app sees of the world it was started in; read once, when it starts. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly userHome: string
  readonly user: string
  /** The running Node. */
  readonly nodePath: string
  /** The file that it runs. */
  readonly script: string
  /** Where temporary folders are made. */
  readonly tempDir: string
  /**
   * Fires at the first SIGINT, SIGTERM or SIGHUP; handlers added here come before the second one ends the process. A handler that
   * returns `true` was waiting for it, as a server does: the exit code is what the app says, not that of a signal. Returns how to
   * leave.
   */
  onInterrupt(handler: (signal: NodeJS.Signals) => unknown): () => void
  /** Fires at each of that signal, which interrupts nothing while somebody is listeners. Returns how to leave. */
  onSignal(signal: 'SIGHUP' | 'SIGUSR2', handler: () => void): () => void
}

/** A stream that may be closed by whoever reads it; writing then does nothing. */
export interface Output {
  readonly isTTY: boolean
  /** Columns of the terminal, 80 when there is none. */
  columns(): number
  /** Rows of the terminal, 24 when there is none. */
  rows(): number
  /** Tells of each change of its size. Returns how to stop. */
  onResize(handler: () => void): () => void
  /** Colours are wanted: a terminal, and no `NO_COLOR`. */
  readonly colors: boolean
  write(text: string): void
}

/** Wraps a stream so that a closed pipe never ends a run. */
function createOutput(stream: NodeJS.WriteStream, env: Readonly<Record<string, string>>): Output {
  let closed = false
  stream.on('error', () => {
    closed = true
  })
  const isTTY = stream.isTTY === true
  return {
    isTTY,
    colors: isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    onResize: (handler) => {
      stream.on('resize', handler)
      return () => stream.off('resize', handler)
    },
    write: (text) => {
      if (!closed && !stream.destroyed) stream.write(text)
    },
  }
}
