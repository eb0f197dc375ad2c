import type { Io, Output } from '../io.js'
import type { Console, ConsoleHandlers } from './console.js'
import { openPlainConsole } from './plain-console.js'
import { openTerminalConsole, type TerminalConsoleOptions } from './terminal-console.js'

/** Options of {@link openConsole}. */
interface ConsoleOptions extends Pick<TerminalConsoleOptions, 'input' | 'signals' | 'fields' | 'keys' | 'isVi'> {
  readonly terminal: Output
  readonly handlers: ConsoleHandlers
  /** Nothing on the screen is drawn again. Default `false`. */
  readonly isStill?: boolean
}

/** The console that `terminal` can carry. Keys from before it are for the line, never for a question. */
export function openConsole(io: Pick<Io, 'stdin' | 'env' | 'early'>, options: ConsoleOptions): Console {
  const { isStill = false, ...rest } = options
  io.early?.end()
  const typed = (options.input && io.early?.take()) ?? []
  if (isStill || io.env['TERM'] === 'dumb' || !options.terminal.isTTY) {
    io.stdin.unshift(typed.join(''))
    return openPlainConsole(io, options.terminal, options.handlers)
  }
  return openTerminalConsole({ io, typed, ...rest })
}
