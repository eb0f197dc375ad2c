// Runs on Node versions that the rest cannot load on: nothing here is newer than ES2020.
import type { Io } from '@hermes/runtime/app'

/**
 * The line that a person can type in while the rest of the program is still loading. It shows plain letters alone; every key is kept,
 * in order, for the line that follows it.
 */
interface EarlyLine {
  /** Takes the line off the screen, for whatever is shown instead. Keys are kept all the same. */
  hide(): void
  /** Gives the terminal back; whoever reads it next gets later keys. What was typed stays until it is taken. */
  end(): void
  /** What was typed, once, a piece for each time that keys came; empty afterwards. */
  take(): readonly string[]
}

/** The world of a start that may have such a line. */
export type EarlyIo = Io & { readonly early?: EarlyLine }

const PASTE_ON = '\u001B[?2004h'
const PASTE_OFF = '\u001B[?2004l'
const ERASE_LINE = '\r\u001B[K'
const PROMPT = '> '
/** Below it a letter could be a control character, above it two columns wide or none. */
const PLAIN = /^[ -~\u00A0-\u024F]$/
const INTERRUPT = '\u0003'
const BACKSPACE = '\u007F'
/** Words that ask for something else than a conversation. */
const ELSEWHERE = /^(?:-[A-Za-z]*[qzhV]|--(?:query|query-file|batch|json|accept|help|version)(?:=|$))/

/** Begins the line where a conversation is going to be; `null` elsewhere. */
export function openEarlyLine(host: NodeJS.Process): EarlyLine | null {
  return isConversation(host.argv.slice(2)) && canDraw(host) ? begin(host) : null
}

/** The same world, in which the line leaves the screen before anything is written. */
export function withEarlyLine(io: Io, early: EarlyLine | null): EarlyIo {
  if (early === null) return io
  const below = (output: Io['stdout']) => ({
    ...output,
    write: (text: string) => {
      early.hide()
      output.write(text)
    },
  })
  return { ...io, stdout: below(io.stdout), stderr: below(io.stderr), early }
}

function isConversation(argv: readonly string[]): boolean {
  const [first] = argv
  const isChat = first === undefined || first === 'chat' || first[0] === '-'
  return isChat && !argv.some((word) => /\s/.test(word) || ELSEWHERE.test(word))
}

function canDraw({ stdin, stdout, stderr, env }: NodeJS.Process): boolean {
  return stdin.isTTY && stdout.isTTY && stderr.isTTY && env['TERM'] !== 'dumb'
}

function begin(host: NodeJS.Process): EarlyLine {
  const { stdin, stdout } = host
  const decoder = new TextDecoder()
  const typed: string[] = []
  let isShown = true
  let isListening = true
  let shown = 0
  // The first key that is more than a letter: what it means is for the line that follows to say.
  let isPlain = true

  const show = (letter: string) => {
    if (letter === BACKSPACE && shown > 0) {
      shown--
      stdout.write('\b \b')
    } else if (PLAIN.test(letter) && shown < (stdout.columns || 80) - PROMPT.length - 1) {
      shown++
      stdout.write(letter)
    } else if (letter !== BACKSPACE) isPlain = false
  }
  const onData = (data: Buffer) => {
    const text = decoder.decode(data, { stream: true })
    if (text.includes(INTERRUPT)) {
      host.kill(host.pid, 'SIGINT')
      return
    }
    typed.push(text)
    for (const letter of text) if (isShown && isPlain) show(letter)
  }
  const hide = () => {
    if (isShown) stdout.write(ERASE_LINE)
    isShown = false
  }
  const end = () => {
    if (!isListening) return
    isListening = false
    hide()
    stdout.write(PASTE_OFF)
    stdin.off('data', onData).pause()
    if (!stdin.destroyed) stdin.setRawMode(false)
    host.off('exit', end)
  }

  stdin.setRawMode(true)
  stdin.on('data', onData)
  // A terminal that goes away is told by whoever reads next, or by its signal.
  stdin.on('error', () => undefined)
  host.once('exit', end)
  stdout.write(PASTE_ON + PROMPT)
  return { hide, end, take: () => typed.splice(0) }
}
