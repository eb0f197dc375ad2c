import { homedir, tmpdir, userInfo } from 'node:os'
import type { Io, Output } from './io.js'
import { main } from './main.js'

/** Reads the world once, serves until it is told to stop and ends the process with the exit code. */
export async function runProcess(): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  const io: Io = {
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env,
    cwd: process.cwd(),
    userHome: env['HOME'] || homedir(),
    user: safeUser(env),
    tempDir: tmpdir(),
    onInterrupt: createInterrupts(),
  }
  process.exitCode = await main(process.argv.slice(2), io)
  await flushed(process.stdout)
  await flushed(process.stderr)
  process.exit()
}

/** The first signal is handed on; the second one, or one nobody waits for, ends the process. */
function createInterrupts(): Io['onInterrupt'] {
  const handlers = new Set<(signal: NodeJS.Signals) => unknown>()
  let count = 0
  const onSignal = (signal: NodeJS.Signals) => {
    if (++count > 1 || handlers.size === 0) process.exit(signal === 'SIGINT' ? 130 : 143)
    for (const handler of handlers) handler(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  return (handler) => {
    handlers.add(handler)
    return () => handlers.delete(handler)
  }
}

function output(stream: NodeJS.WriteStream): Output {
  let closed = false
  stream.on('error', () => {
    closed = true
  })
  return {
    write: (text) => {
      if (!closed && !stream.destroyed) stream.write(text)
    },
  }
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
