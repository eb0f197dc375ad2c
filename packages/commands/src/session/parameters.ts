import { HermesError, type JsonObject } from '@hermes/contracts'
import type { CommandContext, CommandOutput, CommandSession } from '@hermes/contracts/extension'

/** JSON Schema of parameters; those of `required` are asked for. */
export function parameters(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required }
}

/** One text argument that takes the rest of the line. */
export function text(description: string): JsonObject {
  return { type: 'string', description }
}

/** A paragraph. */
export function say(line: string): CommandOutput {
  return { type: 'text', text: line }
}

const SHOWN_CHARS = 60

/** The beginning of a text, on one line. */
export function clipped(line: string): string {
  // What is shown of a long text is known from its beginning.
  const flat = line
    .trimStart()
    .slice(0, SHOWN_CHARS * 20)
    .replace(/\s+/g, ' ')
    .trim()
  return flat.length > SHOWN_CHARS ? `${flat.slice(0, SHOWN_CHARS - 1)}…` : flat
}

/** The session of a command that is not offered without one. */
export function sessionOf({ session }: CommandContext): CommandSession {
  if (session) return session
  throw usageError('There is no session here yet; say something first.')
}

/** What the person did wrong, and what to do. */
export function usageError(message: string): HermesError {
  return new HermesError(message, { code: 'command.usage' })
}
