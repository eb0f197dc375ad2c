// What a terminal is told besides the screen: the title of its window, whether something is under way, and a bell for a person who looks
// elsewhere. @see xterm "ctlseqs" (title stack, focus events), the OSC 9;4 progress of ConEmu, which others took over, and the Program Status
// Protocol (OSC 7501), which a terminal says it knows by answering
import { clip } from '../render/style.js'

/** Options of {@link TerminalSignals}. */
export interface SignalOptions {
  readonly env: Readonly<Record<string, string>>
  /** A turn that took so long rings when it ends, and so does a question after so long without a key; 0 never rings. */
  readonly bellAfterMs: number
}

const OSC = '\u001B]'
const BELL = '\u0007'
const TITLE_SAVE = '\u001B[22;0t'
const TITLE_BACK = '\u001B[23;0t'
const FOCUS_ON = '\u001B[?1004h'
const FOCUS_OFF = '\u001B[?1004l'
const BUSY = `${OSC}9;4;3${BELL}`
const IDLE = `${OSC}9;4;0${BELL}`
const STATUS = `${OSC}7501;`
const STATUS_ANSWER = /\u001B\]7501;\?(?:\u0007|\u001B\\)/
/** Whether it shows a frame as a whole, which 1 and 2 say. @see DECRQM of the VT510 manual */
const FRAMES = '\u001B[?2026$p'
const FRAMES_ANSWER = /\u001B\[\?2026;[12]\$y/
const MAX_TITLE = 80

/** The signals of one terminal. It is told what happens and writes what that means there. */
export class TerminalSignals {
  readonly #options: SignalOptions
  readonly #onFrames: () => void
  readonly #write: (text: string) => void
  readonly #hasTitle: boolean
  readonly #hasProgress: boolean
  #title = ''
  #busySinceMs: number | null = null
  #lastKeyMs = performance.now()
  /** Whether the person looks here; `null` where the terminal does not say. */
  #isFocused: boolean | null = null
  /** Whether it keeps reports of what is under way; `null` until it was asked. */
  #keepsStatus: boolean | null = null
  #isWaiting = false
  #reported = ''

  /** `onFrames` is told once the terminal has said that it shows a frame as a whole. Default: nobody is. */
  constructor(options: SignalOptions, write: (text: string) => void, onFrames: () => void = () => undefined) {
    this.#options = options
    this.#onFrames = onFrames
    this.#write = write
    this.#hasTitle = options.env['TERM'] !== 'linux'
    this.#hasProgress = showsProgress(options.env)
  }

  /** Once the terminal is ours, also after a stop. */
  open(): void {
    this.#write(`${this.#hasTitle ? TITLE_SAVE : ''}${FOCUS_ON}`)
    // The Linux console would print it.
    if (this.#keepsStatus === null && this.#hasTitle) {
      this.#keepsStatus = false
      this.#write(`${STATUS}?${BELL}${FRAMES}`)
    }
    this.#draw()
    this.#report()
  }

  /** Gives the terminal back as it was. */
  close(): void {
    const status = this.#reported === '' ? '' : `${STATUS}state=clear${BELL}`
    this.#reported = ''
    this.#write(`${FOCUS_OFF}${this.#hasProgress ? IDLE : ''}${status}${this.#hasTitle ? TITLE_BACK : ''}`)
  }

  /** What was typed; reports of the terminal are among it. */
  read(data: string): void {
    const report = data.match(/\u001B\[[IO]/g)?.at(-1)
    if (report !== undefined) this.#isFocused = report.endsWith('I')
    else this.#lastKeyMs = performance.now()
    if (FRAMES_ANSWER.test(data)) this.#onFrames()
    if (this.#keepsStatus === false && STATUS_ANSWER.test(data)) {
      this.#keepsStatus = true
      this.#report()
    }
  }

  /** What the session is called. */
  setTitle(title: string): void {
    if (title === this.#title) return
    this.#title = title
    this.#draw()
  }

  /** Whether a turn is under way. */
  setBusy(isBusy: boolean): void {
    const since = this.#busySinceMs
    if (isBusy === (since !== null)) return
    this.#busySinceMs = isBusy ? performance.now() : null
    if (this.#hasProgress) this.#write(isBusy ? BUSY : IDLE)
    this.#draw()
    this.#report()
    if (since !== null) this.#ring(since)
  }

  /** Whether a question stands on the screen. */
  setWaiting(isWaiting: boolean): void {
    this.#isWaiting = isWaiting
    this.#report()
  }

  /** A question waits for the person. */
  ask(): void {
    this.#ring(this.#lastKeyMs)
  }

  #ring(sinceMs: number): void {
    const { bellAfterMs } = this.#options
    if (bellAfterMs > 0 && this.#isFocused !== true && performance.now() - sinceMs >= bellAfterMs) this.#write(BELL)
  }

  #report(): void {
    const idleOrWorking = this.#busySinceMs === null ? 'idle' : 'working'
    const state = this.#isWaiting ? 'blocked:kind=question' : idleOrWorking
    if (this.#keepsStatus !== true || state === this.#reported) return
    this.#reported = state
    this.#write(`${STATUS}state=${state}:app=hermes${BELL}`)
  }

  #draw(): void {
    if (this.#hasTitle && this.#title !== '')
      this.#write(`${OSC}2;${clip(`${this.#busySinceMs === null ? '' : '* '}${this.#title}`, MAX_TITLE)}${BELL}`)
  }
}

/** Terminals that know it; others take OSC 9 for a message to show. */
function showsProgress(env: SignalOptions['env']): boolean {
  const program = env['TERM_PROGRAM'] ?? ''
  return env['WT_SESSION'] !== undefined || env['ConEmuANSI'] === 'ON' || program === 'ghostty' || program === 'WezTerm'
}
