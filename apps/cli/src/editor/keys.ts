/** One thing a person did at the keyboard. `key` names are like `enter`, `up`, `ctrl+c`, `alt+enter`, `shift+tab`. */
export type KeyInput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'paste'; readonly text: string }

/** Turns what a terminal in raw mode sends into keys; what is cut off at the end of a piece waits for the next one. */
interface KeyDecoder {
  push(piece: string): readonly KeyInput[]
  /** What still waits, taken as it is: a lone escape is the key. */
  flush(): readonly KeyInput[]
  /** Whether something waits that only time can settle. */
  readonly isWaiting: boolean
}

const ESCAPE = '\u001B'
const PASTE_START = `${ESCAPE}[200~`
const PASTE_END = `${ESCAPE}[201~`
/** What a terminal answers when it is asked, such as `ESC ] 7501 ; ? BEL`: no key. Alt-] alone has no digit behind it. */
const OSC_ANSWER = /^\u001B\]\d+;[^\u0007\u001B]*(?:\u0007|\u001B\\)/
const MODE_ANSWER = /^\u001B\[\?\d+;\d+\$y/
const MODE_BEGUN = /^\u001B\[\?[0-9;]*\$?$/
const OSC_BEGUN = /^\u001B\]\d+(?:;[^\u0007\u001B]*\u001B?)?$/

const LETTERS: Readonly<Record<string, string>> = {
  ...{ A: 'up', B: 'down', C: 'right', D: 'left', F: 'end', H: 'home', M: 'enter', Z: 'shift+tab' },
}
/** After `ESC O` alone: a report of the terminal may end in the same letters. */
const FUNCTION_KEYS: Readonly<Record<string, string>> = { P: 'f1', Q: 'f2', R: 'f3', S: 'f4' }
const NUMBERS: Readonly<Record<string, string>> = {
  ...{ 1: 'home', 2: 'insert', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' },
  ...{ 11: 'f1', 12: 'f2', 13: 'f3', 14: 'f4', 15: 'f5', 17: 'f6', 18: 'f7', 19: 'f8', 20: 'f9', 21: 'f10' },
  ...{ 23: 'f11', 24: 'f12' },
}
const CODES: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  13: 'enter',
  27: 'escape',
  31: 'ctrl+_',
  127: 'backspace',
}

/** A decoder that has read nothing yet. */
export function createKeyDecoder(): KeyDecoder {
  return new Decoder()
}

class Decoder implements KeyDecoder {
  #rest = ''
  #paste: string[] | null = null

  get isWaiting(): boolean {
    return this.#rest !== '' && this.#paste === null
  }

  push(piece: string): readonly KeyInput[] {
    const inputs: KeyInput[] = []
    let text = this.#rest + piece
    this.#rest = ''
    while (text !== '') text = this.#paste ? this.#readPaste(this.#paste, text, inputs) : this.#readKey(text, inputs)
    return inputs
  }

  flush(): readonly KeyInput[] {
    const text = this.#rest
    this.#rest = ''
    if (text === '') return []
    // The beginning of an answer is no key either, and its escape would stop a run.
    if (this.#paste === null && (OSC_BEGUN.test(text) || MODE_BEGUN.test(text))) return []
    if (this.#paste === null && text.startsWith(ESCAPE)) {
      const after = text.slice(1)
      return [key('escape'), ...(after === '' ? [] : [{ type: 'text', text: after } as const])]
    }
    this.#paste?.push(text)
    return []
  }

  /** Pastes may be megabytes: pieces are kept as they come and joined once. */
  #readPaste(pieces: string[], text: string, inputs: KeyInput[]): string {
    const end = text.indexOf(PASTE_END)
    if (end < 0) {
      const kept = text.length - endingThatMayGrow(text, PASTE_END)
      pieces.push(text.slice(0, kept))
      this.#rest = text.slice(kept)
      return ''
    }
    pieces.push(text.slice(0, end))
    this.#paste = null
    inputs.push({ type: 'paste', text: pieces.join('').replace(/\r\n?/g, '\n') })
    return text.slice(end + PASTE_END.length)
  }

  #readKey(text: string, inputs: KeyInput[]): string {
    if (text.startsWith(PASTE_START)) {
      this.#paste = []
      return text.slice(PASTE_START.length)
    }
    if (text[0] === ESCAPE) return this.#readEscape(text, inputs)
    const printable = /^[^\u0000-\u001F\u007F]+/.exec(text)?.[0]
    if (printable !== undefined) {
      inputs.push({ type: 'text', text: printable })
      return text.slice(printable.length)
    }
    inputs.push(key(controlKey(text.charCodeAt(0))))
    return text.slice(1)
  }

  #readEscape(text: string, inputs: KeyInput[]): string {
    const sequence = /^\u001B\[([0-9;:?<>]*)([@-Z\\^-~])|^\u001BO([@-~])/.exec(text)
    if (sequence) {
      const [whole, parameters = '', final, single] = sequence
      const named = single === undefined ? sequenceKey(parameters, final!) : (LETTERS[single] ?? FUNCTION_KEYS[single])
      if (named) inputs.push(named.length === 1 ? { type: 'text', text: named } : key(named))
      return text.slice(whole.length)
    }
    const answer = OSC_ANSWER.exec(text) ?? MODE_ANSWER.exec(text)
    if (answer) return text.slice(answer[0].length)
    if (/^\u001B(?:\[(?:[0-9;:?<>]*|\?[0-9;]+\$)|O)?$/.test(text) || OSC_BEGUN.test(text)) {
      this.#rest = text
      return ''
    }
    if (text[1] === ESCAPE) {
      inputs.push(key('escape'))
      return text.slice(1)
    }
    const [character = ''] = text.slice(1)
    const code = character.charCodeAt(0)
    inputs.push(key(`alt+${code < 32 || code === 127 ? controlKey(code) : character}`))
    return text.slice(1 + character.length)
  }
}

function key(name: string): KeyInput {
  return { type: 'key', key: name }
}

function controlKey(code: number): string {
  return CODES[code] ?? (code === 0 ? 'ctrl+space' : `ctrl+${String.fromCharCode(code + 96)}`)
}

/** What `ESC [ parameters final` means; `null` for what is not a key, such as a report of the terminal. */
function sequenceKey(parameters: string, final: string): string | null {
  const [first = '', second = '1', third = ''] = parameters.split(';')
  if (final === 'u') return withModifiers(characterKey(Number(first)), second)
  if (final === '~' && first === '27') return withModifiers(characterKey(Number(third)), second)
  const name = final === '~' ? NUMBERS[first] : LETTERS[final]
  return name === undefined ? null : withModifiers(name, second)
}

function characterKey(code: number): string {
  return CODES[code] ?? String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd)
}

function withModifiers(name: string, modifiers: string): string {
  const bits = (Number.parseInt(modifiers, 10) || 1) - 1
  const isCharacter = [...name].length === 1
  const shift = bits & 1 && !isCharacter ? 'shift+' : ''
  return `${bits & 4 ? 'ctrl+' : ''}${bits & 2 ? 'alt+' : ''}${shift}${name}`
}

/** How many characters at the end of `text` may be the beginning of `marker`. */
function endingThatMayGrow(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--)
    if (text.endsWith(marker.slice(0, length))) return length
  return 0
}
