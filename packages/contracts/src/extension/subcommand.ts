import type { JsonObject } from '../json.js'
import type { JsonSchema } from '../tool.js'

/** A command of `hermes`. */
export interface Subcommand {
  /** Lower case letters, digits and dashes. */
  readonly name: string
  /** One line, for `hermes --help`. */
  readonly summary: string
  /** How the words after the command are called in its help, `file...` or `[file]` for example. Default: it takes none. */
  readonly words?: string
  /**
   * JSON Schema of an object: each property is an option, `maxLines` is `--max-lines`. Booleans are switches, numbers are read as such, an
   * array takes several values. Default: no options.
   */
  readonly options?: JsonSchema
  /** Loads what does the work, when the command is called. */
  load(): Promise<SubcommandHandler>
}

/**
 * Runs a command; the options fit its schema. The exit code, 0 when there is none; what it throws is shown in one line and gives 1.
 */
export type SubcommandHandler = (
  options: JsonObject,
  context: SubcommandContext,
) => number | undefined | Promise<number | undefined>

/** What a command may use. */
export interface SubcommandContext {
  /** The words after the command that are no options. */
  readonly words: readonly string[]
  /** The home, and where the command was called. Absolute. */
  readonly home: string
  readonly cwd: string
  /** Writes to standard output, as it is. */
  write(text: string): void
  /** Writes a line to standard error. */
  warn(line: string): void
  /** Fires when the person interrupts. */
  readonly signal: AbortSignal
}
