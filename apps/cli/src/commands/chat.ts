import { errorLine, HermesError } from '@hermes/contracts'
import type { ChatOptions } from '../chat-options.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { printable } from '../render/style.js'
import { readPipedInput } from '../stdin.js'

/** One answer when there is something to ask (`words`, a query or piped text), else a conversation. */
export async function chat(io: Io, input: ChatOptions, words: readonly string[] = []): Promise<number> {
  if (words.length > 0 && input.query !== undefined)
    throw new UsageError(`There are two queries: "${input.query}" and "${words.join(' ')}". Give one.`)
  const options = words.length > 0 ? { ...input, query: words.join(' ') } : input
  const piped = await readPipedInput(io)
  const interactive =
    options.query === undefined && piped === null && io.stdin.isTTY === true && !options.json && !options.accept
  if (interactive) return converse(io, options)
  return (await import('../oneshot.js')).oneshot(io, options, piped)
}

/** A conversation; where no model is set up yet, that comes first. */
async function converse(io: Io, options: ChatOptions): Promise<number> {
  const { repl } = await import('../repl.js')
  try {
    return await repl(io, options)
  } catch (error) {
    if (!isWithoutModel(error, options) || !io.stdout.isTTY) throw error
    io.stdout.write(`${printable(errorLine(error))}\n`)
    const exitCode = await (await import('./setup.js')).setup(io, {})
    return exitCode === EXIT.ok ? repl(io, options) : exitCode
  }
}

/** Whether nobody has chosen a model so far, neither now nor before. */
function isWithoutModel(error: unknown, { model, provider, baseUrl, replay }: ChatOptions): boolean {
  const isChosen = [model, provider, baseUrl, replay].some((choice) => choice !== undefined)
  return !isChosen && HermesError.isInstance(error) && /^models\.(?:no_key|no_model)$/.test(error.code)
}
