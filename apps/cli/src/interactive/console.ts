import type { SubmittedLine } from '../editor/editor.js'
import type { PickAnswer, PickRequest } from '../editor/picker.js'
import type { Output } from '../io.js'
import type { SessionBar } from './session-bar.js'

/** What a person did that is not editing. Must not throw. */
export interface ConsoleHandlers {
  onLine(line: SubmittedLine): void
  /** Ctrl-C. */
  onInterrupt(): void
  /** Escape: what is under way is to stop, nothing else happens. */
  onStop(): void
  /** An image was dropped on the terminal: its absolute path. */
  onDropped?(path: string): void
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void
}

/** Where a conversation takes place: output above, a line to type in below, questions in its place. */
export interface Console {
  readonly output: Output
  /** Whether the status is shown and kept up to date, rather than only the end of it. */
  readonly isLive: boolean
  /** Lines between output and input while something goes on; `null` when nothing does and the next line is awaited. */
  setStatus(lines: readonly string[] | null): void
  /** What the session is, in the last row where there is room for it; `null` takes it away. */
  setBar(bar: SessionBar | null): void
  /** Asks; one question at a time, in the order they come. Abort takes it away with `none`. */
  pick(request: PickRequest, signal?: AbortSignal): Promise<PickAnswer>
  /** The line as far as it is typed, pastes expanded. */
  draft(): string
  setDraft(text: string): void
  /** Puts a text on the clipboard of the machine that the terminal is on; a line about what came of it. */
  copy(text: string): string
  close(): void
}
