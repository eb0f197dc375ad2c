import type { CompletionSources } from '../editor/completion.js'
import { droppedImage, nameDropped } from '../editor/dropped-file.js'
import {
  createEditorState,
  type Draft,
  type EditorEffect,
  type EditorState,
  press,
  withDraft,
  withText,
} from '../editor/editor.js'
import { createKeyDecoder, type KeyInput } from '../editor/keys.js'
import { expandPastes } from '../editor/pastes.js'
import { createPicker, type PickAnswer, type PickerState, type PickRequest, pressPicker } from '../editor/picker.js'
import { VI_BEGIN } from '../editor/vi.js'
import type { Io, Output } from '../io.js'
import { createStyle, wrap } from '../render/style.js'
import { createScreen, type Screen } from '../screen/screen.js'
import { CompletionMenu } from './completion-menu.js'
import type { Console, ConsoleHandlers } from './console.js'
import { drawFooter } from './footer.js'
import type { BarField, SessionBar } from './session-bar.js'
import { type SignalOptions, TerminalSignals } from './terminal-signals.js'

/** Options of {@link openTerminalConsole}. */
export interface TerminalConsoleOptions {
  readonly io: Pick<Io, 'stdin'>
  /** The terminal that is drawn on. */
  readonly terminal: Output
  readonly handlers: ConsoleHandlers
  /** Names the window, and rings for a person who is elsewhere. Default: neither. */
  readonly signals?: SignalOptions
  /** What keys of the person's own stand for, or two that follow each other, `ctrl+k>o`; empty for nothing. Default: every key is as usual. */
  readonly keys?: ReadonlyMap<string, string>
  /** Whether the line is edited with the keys of vi. Default `false`. */
  readonly isVi?: boolean
  /** What the bar tells. Default: all. */
  readonly fields?: readonly BarField[]
  /** What was typed before, a piece for each time that keys came. Default: nothing. */
  readonly typed?: readonly string[]
  /** What lines are typed with; without it there is no line to type in, only questions. */
  readonly input?: LineInput
}

/** What lines are typed with. */
interface LineInput {
  readonly sources: CompletionSources
  /** Earlier lines, the newest last. */
  readonly history: readonly Draft[]
  /** Lets the person edit the line elsewhere, while nobody else uses the terminal; `problem` is a line to show. Never rejects. */
  readonly editText: (text: string) => Promise<{ readonly text: string; readonly problem: string | null }>
}

const PASTE_ON = '\u001B[?2004h'
const PASTE_OFF = '\u001B[?2004l\u001B[?25h'
/** A lone escape is the key when nothing follows for so long. */
const ESCAPE_MS = 50
const STATUS_MS = 33
/** A line that is shown whole after it came back from another editor. */
const MAX_PLAIN_CHARS = 2_000
/** An Enter right behind characters that are composed may have been the one that took them. */
const COMPOSED_WITH_ENTER = /^[^\u001B]*[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]\r$/u
const INTERRUPT = '\u0003'
const ENTER: KeyInput = { type: 'key', key: 'enter' }
/** Whoever is typing does not mean the question that just came up. */
const TYPING_MS = 700

/** Whose a key is while a question is asked: the question's; the line's if it comes right after another key of that line; the line's. */
type Focus = 'question' | 'either' | 'line'

/** A console on a terminal in raw mode; `close` gives the terminal back as it was. */
export function openTerminalConsole(options: TerminalConsoleOptions): Console {
  const console = new TerminalConsole(options)
  console.open()
  return console
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
  readonly #menu: CompletionMenu | null
  #bar: SessionBar | null = null
  readonly #signals: TerminalSignals | null
  #escapeTimer: NodeJS.Timeout | null = null
  #statusTimer: NodeJS.Timeout | null = null
  #lastKeyMs = Number.NEGATIVE_INFINITY
  #focus: Focus = 'question'
  /** The first key of a chord, and the keys that are the first of one. */
  #begun: string | null = null
  readonly #beginnings: ReadonlySet<string>
  #isReady = false
  /** What was typed before there was somebody to send a line to. */
  readonly #waiting: string[]
  #isClosed = false

  constructor(options: TerminalConsoleOptions) {
    this.#options = options
    this.#waiting = [...(options.typed ?? [])]
    this.#screen = createScreen(options.terminal)
    this.#beginnings = new Set([...(options.keys?.keys() ?? [])].flatMap((key) => /^(.+)>/.exec(key)?.[1] ?? []))
    const write = (text: string) => options.terminal.write(text)
    this.#signals = options.signals
      ? new TerminalSignals(options.signals, write, () => this.#screen.markFrames())
      : null
    this.#editor = createEditorState(options.input?.history, options.isVi ? VI_BEGIN : null)
    this.#menu = options.input ? new CompletionMenu(options.input.sources, (state) => this.#completed(state)) : null
    this.#stopListening = options.terminal.onResize(() => this.#draw())
  }

  get output(): Output {
    return this.#screen.output
  }

  readonly isLive = true

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
    this.#isClosed = true
    for (const question of this.#questions.splice(0)) question.settle({ type: 'none' })
    if (this.#statusTimer) clearTimeout(this.#statusTimer)
    if (this.#escapeTimer) clearTimeout(this.#escapeTimer)
    this.#menu?.close()
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
    this.#signals?.setBusy(lines !== null)
    this.#isReady = true
    for (const piece of this.#waiting.splice(0)) this.#onData(piece)
    this.#drawSoon()
  }

  #drawSoon(): void {
    this.#statusTimer ??= setTimeout(() => {
      this.#statusTimer = null
      this.#draw()
    }, STATUS_MS)
  }

  setBar(bar: SessionBar | null): void {
    this.#bar = bar
    if (bar) this.#signals?.setTitle(`${bar.title ?? bar.folder} · hermes`)
    this.#drawSoon()
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
      this.#signals?.ask()
      this.#ask(question)
    })
  }

  #ask(question: Question): void {
    this.#questions.push(question)
    this.#signals?.setWaiting(true)
    if (this.#questions.length === 1) this.#showQuestion()
  }

  copy(text: string): string {
    const sequence = clipboardSequence(text)
    if (sequence === null)
      return 'That is too long for the clipboard of a terminal; `hermes sessions export` writes it to a file.'
    this.#options.terminal.write(sequence)
    const lines = text.trimEnd().split('\n').length
    return `Handed ${lines === 1 ? 'one line' : `${lines} lines`} to the terminal for its clipboard; in tmux that takes: set -g set-clipboard on`
  }

  draft(): string {
    return expandPastes(this.#editor.text, this.#editor.pastes)
  }

  setDraft(text: string): void {
    this.#editor = withText(this.#editor, text)
    this.#draw()
  }

  #showQuestion(): void {
    this.#focus = this.#editor.text === '' || this.#questions[0]?.state.request.isSearch ? 'question' : 'either'
    this.#draw()
  }

  #settle(question: Question, answer: PickAnswer): void {
    const at = this.#questions.indexOf(question)
    if (at < 0) return
    this.#questions.splice(at, 1)
    this.#signals?.setWaiting(this.#questions.length > 0)
    question.settle(answer)
    if (at === 0) this.#showQuestion()
  }

  #takeTerminal(): void {
    const { stdin } = this.#options.io
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.resume()
    this.#options.terminal.write(PASTE_ON)
    this.#signals?.open()
  }

  readonly #giveTerminal = (): void => {
    this.#signals?.close()
    this.#options.terminal.write(PASTE_OFF)
    const { stdin } = this.#options.io
    if (stdin.isTTY && !stdin.destroyed) stdin.setRawMode(false)
  }

  readonly #onEnd = (): void => this.#options.handlers.onEnd()

  readonly #onData = (piece: string): void => {
    const isEarly = !this.#isReady && this.#options.input !== undefined && this.#questions.length === 0
    if (isEarly && !piece.includes(INTERRUPT)) {
      this.#waiting.push(piece)
      return
    }
    this.#signals?.read(piece)
    if (this.#escapeTimer) clearTimeout(this.#escapeTimer)
    this.#escapeTimer = null
    const keys = COMPOSED_WITH_ENTER.test(piece) ? piece.slice(0, -1) : piece
    this.#takeAll(this.#decoder.push(keys))
    if (this.#decoder.isWaiting)
      this.#escapeTimer = setTimeout(() => {
        for (const input of this.#decoder.flush()) this.#take(input)
        this.#draw()
      }, ESCAPE_MS)
    this.#draw()
  }

  /** Where there is no line to type in, what came in one piece with an answer belongs to the question that follows it at once. */
  #takeAll(inputs: readonly KeyInput[]): void {
    for (const [index, input] of inputs.entries()) {
      const question = this.#questions[0]
      this.#take(input)
      if (this.#options.input || !question || this.#questions[0] === question) continue
      const rest = inputs.slice(index + 1)
      setImmediate(() => {
        if (this.#isClosed) return
        this.#takeAll(rest)
        this.#draw()
      })
      return
    }
  }

  #take(input: KeyInput): void {
    const nowMs = performance.now()
    const isSoon = nowMs - this.#lastKeyMs < TYPING_MS
    this.#lastKeyMs = nowMs
    const question = this.#questions[0]
    const isForLine = this.#focus === 'line' || (this.#focus === 'either' && isSoon)
    if (!question || (isForLine && isWriting(input))) this.#write(input)
    else if (this.#focus === 'line' && input.type === 'key' && input.key === 'escape') this.#focus = 'question'
    else this.#answer(question, input)
  }

  #answer(question: Question, input: KeyInput): void {
    this.#focus = 'question'
    const next = pressPicker(question.state, input)
    if ('type' in next) this.#settle(question, next)
    else if (next !== question.state) question.state = next
    // The person has not seen the question, and begins the next line.
    else if (input.type !== 'key') this.#write(input)
    if (input.type === 'key' && input.key === 'ctrl+c') this.#options.handlers.onInterrupt()
  }

  #write(input: KeyInput): void {
    if (!this.#options.input) {
      this.#stop(input)
      return
    }
    const question = this.#questions[0]
    this.#edit(input)
    // The key may have brought a question of its own, such as which of the earlier lines.
    if (this.#questions[0] === question) this.#focus = this.#editor.text === '' ? 'question' : 'line'
  }

  /** Without a line, and while nothing is asked, keys only stop. */
  #stop(input: KeyInput): void {
    const { onInterrupt, onStop, onEnd } = this.#options.handlers
    if (input.type !== 'key' || this.#questions.length > 0) return
    if (input.key === 'ctrl+c') onInterrupt()
    else if (input.key === 'escape') onStop()
    else if (input.key === 'ctrl+d') onEnd()
  }

  #edit(pressed: KeyInput): void {
    const input = this.#usual(pressed)
    if (input === null) return
    const before = this.#editor
    const step = this.#menu?.press(before, input)
    if (step?.type === 'moved') return
    if (step) {
      this.#editor = step.state
      if (step.isSent) this.#edit(ENTER)
      else this.#menu?.open(step.state)
      return
    }
    const dropped = input.type === 'paste' ? droppedImage(input.text) : null
    if (dropped !== null) this.#options.handlers.onDropped?.(dropped)
    const { state, effect } = press(
      before,
      input.type === 'paste' ? { ...input, text: nameDropped(input.text) } : input,
    )
    this.#editor = state
    if (effect.type !== 'complete') this.#menu?.follow(before, state, input)
    this.#obey(effect)
  }

  /** The key that does by default what this one does here; `null` for one that does nothing. */
  #usual(input: KeyInput): KeyInput | null {
    const { keys } = this.#options
    if (keys === undefined || input.type === 'paste') return input
    const name = input.type === 'key' ? input.key : input.text
    const chord = this.#begun === null ? undefined : keys.get(`${this.#begun}>${name}`)
    this.#begun = null
    if (chord !== undefined) return { type: 'key', key: chord }
    if (this.#beginnings.has(name)) {
      this.#begun = name
      return null
    }
    const key = input.type === 'key' ? keys.get(name) : undefined
    if (key === undefined) return input
    return key === '' ? null : { type: 'key', key }
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
        // It never rejects.
        void this.#menu?.complete(this.#editor)
        break
      case 'stop':
        handlers.onStop()
        break
      case 'search':
        this.#searchHistory()
        break
      case 'edit':
        void this.#editElsewhere()
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

  /** The menu has something to show, or Tab has completed the line. */
  #completed(state: EditorState | null): void {
    if (state) this.#editor = state
    this.#draw()
  }

  #searchHistory(): void {
    const lines = this.#editor.history.toReversed()
    if (lines.length === 0) return
    const options = lines.map(({ text }) => ({ label: text.replaceAll('\n', ' ⏎ ') }))
    this.#ask({
      state: createPicker({ title: 'Earlier lines', options, freeText: false, isSearch: true }),
      // At once: what is typed next belongs to that line.
      settle: (answer) => {
        if (answer.type === 'option') this.#editor = withDraft(this.#editor, lines[answer.index]!)
      },
    })
  }

  async #editElsewhere(): Promise<void> {
    const before = this.draft()
    this.#screen.pause()
    this.#giveTerminal()
    this.#options.io.stdin.pause()
    const { text, problem } = await this.#options.input!.editText(before)
    // The terminal has been given back.
    if (this.#isClosed) return
    this.#takeTerminal()
    this.#screen.resume()
    if (text !== before)
      this.#editor =
        text.length > MAX_PLAIN_CHARS ? withText(this.#editor, text) : withDraft(this.#editor, { text, pastes: [] })
    if (problem !== null) this.output.write(`${wrap(problem, this.output.columns())}\n`)
    this.#draw()
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
    const { stash } = this.#editor
    this.#screen.setFooter(
      drawFooter({
        status: stash ? [...this.#status, `put aside: ${stash.text}`] : this.#status,
        picker: this.#questions[0]?.state ?? null,
        editor: input && this.#isReady ? this.#editor : null,
        menu: this.#menu?.shown ?? null,
        bar: this.#bar,
        ...(this.#options.fields && { fields: this.#options.fields }),
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

/** Terminals drop longer sequences: xterm reads this much Base64. */
const MAX_BASE64 = 74_994

/** What a terminal obeys to put a text on the clipboard of its machine, over ssh too (OSC 52); `null` for a text that is too long for it. */
function clipboardSequence(text: string): string | null {
  const data = Buffer.from(text).toString('base64')
  return data.length > MAX_BASE64 ? null : `\u001B]52;c;${data}\u0007`
}
