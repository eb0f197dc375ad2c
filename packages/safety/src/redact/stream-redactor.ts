import { REDACTED } from './forms.js'
import type { Redactor } from './redactor.js'
import { findSpans, joinSpans } from './spans.js'

/** Redacts text that comes in pieces. */
interface StreamRedactor {
  /** What may be shown by now; holds back only what could be the start of a secret. */
  feed(chunk: string): string
  /** The rest. Afterwards it can be used for another text. */
  flush(): string
}

/** Replaces registered values in a stream: all pieces together come out as `redactValues` of the whole, wherever they were cut. */
export function createStreamRedactor(redactor: Pick<Redactor, 'forms'>): StreamRedactor {
  return new BufferingRedactor(redactor)
}

class BufferingRedactor implements StreamRedactor {
  readonly #redactor: Pick<Redactor, 'forms'>
  #buffered = ''
  /** How many characters of `#held` a marker already stands for. */
  #covered = 0

  constructor(redactor: Pick<Redactor, 'forms'>) {
    this.#redactor = redactor
  }

  feed(chunk: string): string {
    this.#buffered += chunk
    const forms = this.#redactor.forms()
    return this.#emit(firstPossibleStart(this.#buffered, forms), forms)
  }

  flush(): string {
    const rest = this.#emit(this.#buffered.length, this.#redactor.forms())
    this.#covered = 0
    return rest
  }

  #emit(until: number, forms: readonly string[]): string {
    const text = this.#buffered
    const covered = this.#covered
    const spans = joinSpans([...(covered > 0 ? [{ start: 0, end: covered }] : []), ...findSpans(text, forms)])
    let result = ''
    let at = 0
    this.#covered = until === 0 ? covered : 0
    for (const { start, end } of spans) {
      if (start >= until) break
      result += text.slice(at, start) + (start === 0 && covered > 0 ? '' : REDACTED)
      at = Math.min(end, until)
      this.#covered = Math.max(0, end - until)
    }
    this.#buffered = text.slice(until)
    return result + text.slice(at, until)
  }
}

/** The first place from which the text to its end is the beginning of a longer form. */
function firstPossibleStart(text: string, forms: readonly string[]): number {
  let first = text.length
  for (const form of forms) {
    for (let at = Math.max(0, text.length - form.length + 1); at < first; at++) {
      if (text[at] === form[0] && form.startsWith(text.slice(at))) first = at
    }
  }
  return first
}
