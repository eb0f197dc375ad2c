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

/** The console that `terminal` can carry. */
export function openConsole(io: Pick<Io, 'stdin' | 'env'>, options: ConsoleOptions): Console {
  const { isStill = false, ...rest } = options
  if (isStill || io.env['TERM'] === 'dumb' || !options.terminal.isTTY)
    return openPlainConsole(io, options.terminal, options.handlers)
  return openTerminalConsole({ io, ...rest })
}
