import { homedir, tmpdir, userInfo } from 'node:os'
import { createOutput, type Io } from './io.js'
import { main } from './main.js'

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Reads the world once, runs the command line and ends the process with its exit code. */
export async function runProcess(): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  const handlers = new Set<(signal: NodeJS.Signals) => unknown>()
  let interrupted = 0
  let endedBy: keyof typeof SIGNAL_EXIT | null = null
  const onSignal = (signal: keyof typeof SIGNAL_EXIT) => {
    interrupted++
    if (signal !== 'SIGINT') endedBy = signal
    if (interrupted > 1 || handlers.size === 0) process.exit(SIGNAL_EXIT[signal])
    for (const handler of [...handlers]) if (handler(signal) === true) endedBy = null
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => onSignal(signal))
  const io: Io = {
    stdin: process.stdin,
    stdout: createOutput(process.stdout, env),
    stderr: createOutput(process.stderr, env),
    env,
    cwd: process.cwd(),
    userHome: env['HOME'] || homedir(),
    user: safeUser(env),
    nodePath: process.execPath,
    tempDir: tmpdir(),
    onInterrupt: (handler) => {
      interrupted = 0
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
  const exitCode = await main(process.argv.slice(2), io)
  process.exitCode = endedBy ? SIGNAL_EXIT[endedBy] : exitCode
  await flushed(process.stdout)
  await flushed(process.stderr)
  process.exit()
}

function safeUser(env: Readonly<Record<string, string>>): string {
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
