import type { Io, Output } from '../io.js'
import type { Console, ConsoleHandlers } from './console.js'
import { openPlainConsole } from './plain-console.js'
import { openTerminalConsole, type TerminalConsoleOptions } from './terminal-console.js'

/** The console that `terminal` can carry. */
export function openConsole(
  io: Pick<Io, 'stdin' | 'env'>,
  options: { readonly terminal: Output; readonly handlers: ConsoleHandlers } & Pick<
    TerminalConsoleOptions,
    'input' | 'signals'
  >,
): Console {
  if (io.env['TERM'] === 'dumb' || !options.terminal.isTTY)
    return openPlainConsole(io, options.terminal, options.handlers)
  return openTerminalConsole({ io, ...options })
}
