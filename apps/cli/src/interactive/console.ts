import type { PickAnswer, PickRequest } from '../editor/picker.js'
import type { Output } from '../io.js'

/** A line that was entered. `shown` is how it stood on the screen, long pastes by their names. */
export interface EnteredLine {
  readonly text: string
  readonly shown: string
  /** `steer` when it was meant for the run under way. */
  readonly how: 'enter' | 'steer'
}

/** What a person did that is not editing. Must not throw. */
export interface ConsoleHandlers {
  onLine(line: EnteredLine): void
  /** Ctrl-C. */
  onInterrupt(): void
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void
}

/** Where a conversation takes place: output above, a line to type in below, questions in its place. */
export interface Console {
  readonly output: Output
  /** Lines between output and input while something goes on; `null` when nothing does and the next line is awaited. */
  setStatus(lines: readonly string[] | null): void
  /** Asks; one question at a time, in the order they come. Abort takes it away with `none`. */
  pick(request: PickRequest, signal?: AbortSignal): Promise<PickAnswer>
  /** The line as far as it is typed, pastes expanded. */
  draft(): string
  setDraft(text: string): void
  close(): void
}
