import { homedir, tmpdir, userInfo } from 'node:os'
import { createOutput, type Io } from './io.js'
import { main } from './main.js'

/** Reads the world once, runs the command line and ends the process with its exit code. */
export async function runProcess(): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  const handlers = new Set<(signal: NodeJS.Signals) => void>()
  let interrupted = 0
  const onSignal = (signal: NodeJS.Signals) => {
    interrupted++
    if (interrupted > 1 || handlers.size === 0) process.exit(signal === 'SIGINT' ? 130 : 143)
    for (const handler of handlers) handler(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
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
  process.exitCode = await main(process.argv.slice(2), io)
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
