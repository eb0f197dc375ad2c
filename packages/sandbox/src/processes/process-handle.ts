import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { PtyProcess } from '../local/pty.js'

/** How a process that was started here is reached. */
export interface ProcessHandle {
  readonly pid: number
  onExit(listener: (exitCode: number | null, signal: string | null) => void): void
  /** `false` when its input is closed. */
  write(text: string): boolean
  closeInput(): void
  /** Whether it keeps the program alive. */
  keepAlive(isKeptAlive: boolean): void
}

/** A child with pipes. */
export function childHandle(child: ChildProcess, pid: number): ProcessHandle {
  child.stdin?.on('error', () => undefined)
  return {
    pid,
    onExit: (listener) => void child.once('exit', listener),
    write(text) {
      if (!child.stdin?.writable) return false
      child.stdin.write(text)
      return true
    },
    closeInput: () => void child.stdin?.end(),
    keepAlive: (isKeptAlive) => (isKeptAlive ? child.ref() : child.unref()),
  }
}

/** What ends a line of input early, and the input when the line is empty. */
const END_OF_INPUT = '\x04'

/** A process on a pseudo-terminal. */
export function ptyHandle(pty: PtyProcess): ProcessHandle {
  let isOpen = true
  return {
    pid: pty.pid,
    onExit: (listener) =>
      void pty.onExit(({ exitCode, signal }) => {
        isOpen = false
        listener(signal ? null : exitCode, signal ? signalName(signal) : null)
      }),
    write(text) {
      if (isOpen) pty.write(text)
      return isOpen
    },
    closeInput() {
      if (isOpen) pty.write(END_OF_INPUT)
    },
    keepAlive: () => undefined,
  }
}

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`
