// A terminal for benches, made by the system's script program.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { scratchEnvironment } from './measure.mjs'

/** A pseudo-terminal around `node ARGS`, 100 by 30. */
export function openTerminal({ directory, cwd }, args) {
  const command = [process.execPath, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-q', '-f', '-c', `stty rows 30 cols 100; exec ${command}`, '/dev/null'], {
    cwd,
    env: { ...scratchEnvironment({ directory }), TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  let output = ''
  let wake = () => undefined
  let seen = () => undefined
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
    seen(text)
    wake()
  })
  return {
    /** Of `script`, whose only child is the program. */
    pid: child.pid,
    type: (keys) => child.stdin.write(keys),
    /** Has each piece of output handed to `reader` from now on. */
    watch: (reader) => (seen = reader),
    /** Resolves once `text` was written after this call. */
    shows: async (text) => {
      output = ''
      const tooLate = performance.now() + 20_000
      while (!output.includes(text)) {
        if (performance.now() > tooLate) throw new Error(`the terminal did not show ${JSON.stringify(text)}`)
        await Promise.race([new Promise((resolve) => (wake = resolve)), sleep(1000)])
      }
    },
    close: async () => {
      const ended = once(child, 'close')
      process.kill(-child.pid, 'SIGTERM')
      await Promise.race([ended, sleep(5000)])
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
    },
  }
}
