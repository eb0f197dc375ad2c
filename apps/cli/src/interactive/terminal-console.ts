import {
  applyCompletion,
  type Completion,
  type CompletionSources,
  commonBeginning,
  findCompletion,
} from '../editor/completion.js'
import { createEditorState, type EditorEffect, type EditorState, press, withText } from '../editor/editor.js'
import { createKeyDecoder, type KeyInput } from '../editor/keys.js'
import { expandPastes } from '../editor/pastes.js'
import { createPicker, type PickAnswer, type PickerState, type PickRequest, pressPicker } from '../editor/picker.js'
import type { Io, Output } from '../io.js'
import { createStyle } from '../render/style.js'
import { createScreen, type Screen } from '../screen/screen.js'
import type { Console, ConsoleHandlers } from './console.js'
import { drawFooter } from './footer.js'

/** Options of {@link openTerminalConsole}. */
export interface TerminalConsoleOptions {
  readonly io: Pick<Io, 'stdin'>
  /** The terminal that is drawn on. */
  readonly terminal: Output
  readonly handlers: ConsoleHandlers
  /** What Tab offers and earlier lines; without them there is no line to type in, only questions. */
  readonly input?: { readonly sources: CompletionSources; readonly history: readonly string[] }
}

const PASTE_ON = '\u001B[?2004h'
const PASTE_OFF = '\u001B[?2004l\u001B[?25h'
/** A lone escape is the key when nothing follows for so long. */
const ESCAPE_MS = 50
const STATUS_MS = 33
/** Whoever is typing does not mean the question that just came up. */
const TYPING_MS = 700

/** A console on a terminal in raw mode; `close` gives the terminal back as it was. */
export function openTerminalConsole(options: TerminalConsoleOptions): Console {
  const console = new TerminalConsole(options)
  console.open()
  return console
}

/** Candidates on the screen; `at` is the one in the line. */
interface Offered {
  readonly completion: Completion
  readonly at: number | null
}

interface Question {
  state: PickerState
  readonly settle: (answer: PickAnswer) => void
}

class TerminalConsole implements Console {
  readonly #options: TerminalConsoleOptions
  readonly #screen: Screen
  readonly #decoder = createKeyDecoder()
  readonly #questions: Question[] = []
  readonly #stopListening: () => void
  #editor: EditorState
  #status: readonly string[] = []
  #completion: Offered | null = null
  #escapeTimer: NodeJS.Timeout | null = null
  #statusTimer: NodeJS.Timeout | null = null
  #lastKeyMs = Number.NEGATIVE_INFINITY
  #isArmed = false
  /** Keys are taken from the beginning on; the line they make is shown once there is somebody to send it to. */
  #isReady = false

  constructor(options: TerminalConsoleOptions) {
    this.#options = options
    this.#screen = createScreen(options.terminal)
    this.#editor = createEditorState(options.input?.history)
    this.#stopListening = options.terminal.onResize(() => this.#draw())
  }

  get output(): Output {
    return this.#screen.output
  }

  open(): void {
    this.#takeTerminal()
    const { stdin } = this.#options.io
    stdin.setEncoding('utf8')
    stdin.on('data', this.#onData)
    stdin.on('end', this.#onEnd)
    stdin.on('error', this.#onEnd)
    process.once('exit', this.#giveTerminal)
    this.#draw()
  }

  close(): void {
    for (const question of this.#questions.splice(0)) question.settle({ type: 'none' })
    if (this.#statusTimer) clearTimeout(this.#statusTimer)
    if (this.#escapeTimer) clearTimeout(this.#escapeTimer)
    this.#stopListening()
    this.#screen.close()
    const { stdin } = this.#options.io
    stdin.off('data', this.#onData)
    stdin.off('end', this.#onEnd)
    process.off('exit', this.#giveTerminal)
    this.#giveTerminal()
    stdin.pause()
  }

  setStatus(lines: readonly string[] | null): void {
    this.#status = lines ?? []
    this.#isReady = true
    this.#statusTimer ??= setTimeout(() => {
      this.#statusTimer = null
      this.#draw()
    }, STATUS_MS)
  }

  pick(request: PickRequest, signal?: AbortSignal): Promise<PickAnswer> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve({ type: 'none' })
      const abort = () => this.#settle(question, { type: 'none' })
      const settle = (answer: PickAnswer) => {
        signal?.removeEventListener('abort', abort)
        resolve(answer)
      }
      const question: Question = { state: createPicker(request), settle }
      signal?.addEventListener('abort', abort, { once: true })
      this.#questions.push(question)
      if (this.#questions.length === 1) this.#showQuestion()
    })
  }

  draft(): string {
    return expandPastes(this.#editor.text, this.#editor.pastes)
  }

  setDraft(text: string): void {
    this.#editor = withText(this.#editor, text)
    this.#draw()
  }

  #showQuestion(): void {
    this.#isArmed = this.#editor.text === ''
    this.#draw()
  }

  #settle(question: Question, answer: PickAnswer): void {
    const at = this.#questions.indexOf(question)
    if (at < 0) return
    this.#questions.splice(at, 1)
    question.settle(answer)
    if (at === 0) this.#showQuestion()
  }

  #takeTerminal(): void {
    const { stdin } = this.#options.io
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.resume()
    this.#options.terminal.write(PASTE_ON)
  }

  readonly #giveTerminal = (): void => {
    this.#options.terminal.write(PASTE_OFF)
    const { stdin } = this.#options.io
    if (stdin.isTTY && !stdin.destroyed) stdin.setRawMode(false)
  }

  readonly #onEnd = (): void => this.#options.handlers.onEnd()

  readonly #onData = (piece: string): void => {
    if (this.#escapeTimer) clearTimeout(this.#escapeTimer)
    this.#escapeTimer = null
    for (const input of this.#decoder.push(piece)) this.#take(input)
    if (this.#decoder.isWaiting)
      this.#escapeTimer = setTimeout(() => {
        for (const input of this.#decoder.flush()) this.#take(input)
        this.#draw()
      }, ESCAPE_MS)
    this.#draw()
  }

  #take(input: KeyInput): void {
    const nowMs = performance.now()
    const isTyping = !this.#isArmed && isWriting(input) && nowMs - this.#lastKeyMs < TYPING_MS
    this.#lastKeyMs = nowMs
    const question = this.#questions[0]
    if (question && !isTyping) this.#answer(question, input)
    else if (this.#options.input) this.#edit(input)
  }

  #answer(question: Question, input: KeyInput): void {
    this.#isArmed = true
    const next = pressPicker(question.state, input)
    if ('type' in next) this.#settle(question, next)
    else question.state = next
    if (input.type === 'key' && input.key === 'ctrl+c') this.#options.handlers.onInterrupt()
  }

  #edit(input: KeyInput): void {
    const { state, effect } = press(this.#editor, input)
    this.#editor = state
    if (effect.type !== 'complete') this.#completion = null
    this.#obey(effect)
  }

  #obey(effect: EditorEffect): void {
    const { handlers } = this.#options
    switch (effect.type) {
      case 'none':
        break
      case 'submit':
        handlers.onLine(effect)
        break
      case 'complete':
        // Looking into folders never rejects.
        void this.#complete(effect.direction)
        break
      case 'interrupt':
        handlers.onInterrupt()
        break
      case 'end':
        handlers.onEnd()
        break
      case 'redraw':
        this.#screen.redraw({ clear: true })
        break
      case 'suspend':
        this.#suspend()
        break
      default:
        effect satisfies never
    }
  }

  async #complete(direction: 1 | -1): Promise<void> {
    if (this.#completion) {
      this.#cycle(this.#completion, direction)
      return
    }
    const before = this.#editor
    const found = await findCompletion(before, this.#options.input!.sources)
    if (!found || this.#editor !== before) return
    const text = commonBeginning(found.candidates)
    this.#editor = applyCompletion(before, found, text)
    const completion = { ...found, end: found.start + text.length }
    this.#completion = found.candidates.length > 1 ? { completion, at: null } : null
    this.#draw()
  }

  /** Another Tab puts the next candidate in place of the last one. */
  #cycle({ completion, at }: Offered, direction: 1 | -1): void {
    const { candidates } = completion
    const next =
      at === null
        ? direction > 0
          ? 0
          : candidates.length - 1
        : (at + direction + candidates.length) % candidates.length
    const text = candidates[next]!
    this.#editor = applyCompletion(this.#editor, completion, text)
    this.#completion = { completion: { ...completion, end: completion.start + text.length }, at: next }
  }

  #suspend(): void {
    this.#screen.setFooter({ rows: [], cursor: null })
    this.#giveTerminal()
    process.once('SIGCONT', () => {
      this.#takeTerminal()
      this.#screen.redraw({ clear: false })
      this.#draw()
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  #draw(): void {
    const { terminal, input } = this.#options
    this.#screen.setFooter(
      drawFooter({
        status: this.#status,
        picker: this.#questions[0]?.state ?? null,
        editor: input && this.#isReady ? this.#editor : null,
        completion: this.#completion,
        columns: terminal.columns(),
        rows: terminal.rows(),
        style: createStyle(terminal),
      }),
    )
  }
}

/** Keys that belong to a line rather than to a question. */
function isWriting(input: KeyInput): boolean {
  return input.type !== 'key' || input.key === 'enter' || input.key === 'backspace'
}
