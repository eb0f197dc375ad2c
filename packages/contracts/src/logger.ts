import type { JsonValue } from './json.js'

/** Fields logged beside a message; never secrets. */
export type LogFields = Readonly<Record<string, JsonValue | undefined>>

/** Where a library reports what nobody asked it to return. Must not throw. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Resolves once everything logged so far is written. */
  flush?(): Promise<void>
}

const ignore = (): void => undefined

/** A logger that keeps nothing; the default of every library. */
export const silentLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore })
