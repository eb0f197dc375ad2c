import { spawn } from 'node:child_process'
import type { PtyModule } from '../local/pty.js'

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Real pseudo-terminals by way of the `script` program, for machines where node-pty was not built. */
export const scriptPty: PtyModule = {
  spawn(file, args, { cwd, env }) {
    const child = spawn('script', ['-qefc', [file, ...args].map(quoted).join(' '), '/dev/null'], {
      cwd,
      env,
      detached: true,
    })
    child.stdout.setEncoding('utf8')
    return {
      pid: child.pid ?? 0,
      write: (data) => void child.stdin.write(data),
      onData: (listener) => child.stdout.on('data', listener),
      onExit: (listener) => child.once('close', (exitCode) => listener({ exitCode: exitCode ?? 0 })),
    }
  },
}
