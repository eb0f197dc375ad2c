import type { ChatOptions } from '../chat-options.js'
import type { Io } from '../io.js'
import { readPipedInput } from '../stdin.js'

/** One answer when there is a query or piped text, else a conversation. */
export async function chat(io: Io, options: ChatOptions): Promise<number> {
  const piped = await readPipedInput(io)
  const interactive =
    options.query === undefined && piped === null && io.stdin.isTTY === true && !options.json && !options.accept
  if (interactive) return (await import('../repl.js')).repl(io, options)
  return (await import('../oneshot.js')).oneshot(io, options, piped)
}
