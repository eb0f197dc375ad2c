import type { ModelEvent } from '@hermes/contracts/model'

/** A piece of an answer, sorted. */
export interface SortedText {
  readonly reasoning: string
  readonly text: string
}

/** The events of sorted text, none for what is empty. */
export function eventsOf({ reasoning, text }: SortedText): ModelEvent[] {
  if (reasoning === '') return text === '' ? [] : [{ type: 'text-delta', text }]
  const thought = { type: 'reasoning-delta', text: reasoning } as const
  return text === '' ? [thought] : [thought, { type: 'text-delta', text }]
}

const NOTHING: SortedText = { reasoning: '', text: '' }

/** More white space than this in front of an answer is no place for a tag. */
const MAX_INDENT = 1_000
/** As much of a line as it takes to know a fence. */
const MAX_FENCE_LINE = 200

/**
 * Sorts streamed text into reasoning and text for models that put their thoughts between tags. A tag opens thoughts at the start of the
 * answer or of a later line; elsewhere, and inside of code, it is text. A closing tag that closes nothing is dropped. However the text is
 * cut into pieces, the sum of what comes out is the same.
 */
export class ThinkTags {
  readonly #opens: readonly string[]
  readonly #tag: RegExp | null
  #state: 'start' | 'thinking' | 'after' | 'text' = 'start'
  #close = /$^/
  #buffered = ''
  readonly #line = new Line()
  /** Opening tags that were shown as text and not closed yet. */
  #shownOpens = 0
  /** Characters of text given so far, and at how many a closing tag of nothing stood at the beginning of a line. */
  #writtenChars = 0
  #orphanAt: number | null = null

  /** Without names everything is text. */
  constructor(names: readonly string[] = []) {
    this.#opens = names.map((name) => `<${name.toLowerCase()}>`)
    this.#tag = names.length === 0 ? null : new RegExp(`<(/?)(?:${names.map(escaped).join('|')})>`, 'gi')
  }

  /** What is known of the text so far; the rest is held until more comes. */
  push(piece: string): SortedText {
    if (this.#tag === null) return { reasoning: '', text: piece }
    this.#buffered += piece
    let reasoning = ''
    let text = ''
    for (let isMoving = true; isMoving; ) {
      const before = this.#state
      const sorted = this.#step()
      reasoning += sorted.reasoning
      text += sorted.text
      this.#writtenChars += sorted.text.length
      isMoving = this.#buffered !== '' && this.#state !== before
    }
    return { reasoning, text }
  }

  /** What is still held when the answer ends. */
  end(): SortedText {
    const buffered = this.#buffered
    this.#buffered = ''
    return this.#state === 'thinking' ? { reasoning: buffered, text: '' } : { reasoning: '', text: buffered }
  }

  /**
   * The text of a complete answer whose server took the opening tag away: what stands before a closing tag on a line of its own, with no
   * opening tag before it, is reasoning.
   */
  splitOrphan(text: string): SortedText {
    const at = this.#orphanAt
    if (at === null || !/^[ \t]*(?:\n|$)/.test(text.slice(at, at + MAX_FENCE_LINE))) return { reasoning: '', text }
    return { reasoning: text.slice(0, at).replace(/\n[ \t]*$/, ''), text: text.slice(at).trimStart() }
  }

  /** Works on what is held until the state changes or more is needed. */
  #step(): SortedText {
    switch (this.#state) {
      case 'start':
        return this.#start()
      case 'thinking':
        return this.#think()
      case 'after':
        // The blank lines between thoughts and answer belong to neither.
        this.#buffered = this.#buffered.trimStart()
        if (this.#buffered !== '') this.#state = 'text'
        return NOTHING
      case 'text':
        return { reasoning: '', text: this.#read() }
      default:
        return this.#state satisfies never
    }
  }

  #start(): SortedText {
    const begun = this.#buffered.trimStart()
    const isRemote = this.#buffered.length - begun.length > MAX_INDENT
    const opening = isRemote ? 'none' : this.#opensAt(begun)
    if (opening === 'whole') this.#open(begun)
    else if (opening === 'none' && (isRemote || begun !== '')) this.#state = 'text'
    return NOTHING
  }

  #opensAt(text: string): 'whole' | 'maybe' | 'none' {
    const lower = text.slice(0, MAX_FENCE_LINE).toLowerCase()
    if (this.#opens.some((tag) => lower.startsWith(tag))) return 'whole'
    return this.#opens.some((tag) => tag.startsWith(lower)) ? 'maybe' : 'none'
  }

  /** Goes on behind the tag that `text` begins with. */
  #open(text: string): void {
    const end = text.indexOf('>') + 1
    this.#close = new RegExp(`</${escaped(text.slice(1, end - 1))}>`, 'i')
    this.#buffered = text.slice(end)
    this.#line.restart()
    this.#state = 'thinking'
  }

  #think(): SortedText {
    const close = this.#close.exec(this.#buffered)
    if (close) {
      const reasoning = this.#buffered.slice(0, close.index)
      this.#buffered = this.#buffered.slice(close.index + close[0].length)
      this.#state = 'after'
      return { reasoning, text: '' }
    }
    const kept = partialTag(this.#buffered)
    const reasoning = this.#buffered.slice(0, this.#buffered.length - kept)
    this.#buffered = this.#buffered.slice(this.#buffered.length - kept)
    return { reasoning, text: '' }
  }

  /** Text line by line, up to a tag that opens thoughts or to what has to be held. */
  #read(): string {
    const parts: string[] = []
    while (this.#buffered !== '') {
      const plain = this.#line.isFresh ? PLAIN_LINES.exec(this.#buffered)?.[0] : undefined
      if (plain) {
        parts.push(plain)
        this.#buffered = this.#buffered.slice(plain.length)
        continue
      }
      const end = this.#buffered.indexOf('\n') + 1
      const line = end === 0 ? this.#buffered : this.#buffered.slice(0, end)
      const rest = end === 0 ? '' : this.#buffered.slice(end)
      if (this.#line.isFenced) {
        this.#give(line, parts)
        this.#buffered = rest
        continue
      }
      if (this.#line.isBlank) {
        const indent = /^[ \t]*/.exec(line)![0]
        const opening = indent === line ? 'none' : this.#opensAt(line.slice(indent.length))
        if (opening !== 'none') {
          this.#give(indent, parts)
          this.#buffered = this.#buffered.slice(indent.length)
          if (opening === 'whole') this.#open(this.#buffered)
          return parts.join('')
        }
      }
      const whole = line.length - (end === 0 ? partialTag(line) : 0)
      const read = this.#readLine(line.slice(0, whole), parts)
      this.#buffered = this.#buffered.slice(read)
      if (read === whole && whole < line.length) break
    }
    return parts.join('')
  }

  /** Gives how much was read: up to a tag that opens thoughts, where only tags of nothing stood before it. */
  #readLine(line: string, parts: string[]): number {
    let from = 0
    for (const tag of line.matchAll(this.#tag!)) {
      const isClose = tag[1] === '/'
      this.#give(line.slice(from, tag.index), parts)
      from = tag.index
      if (!isClose && this.#line.isBlank) return from
      const isText = this.#line.endsInCode || !isClose || this.#shownOpens > 0
      if (isText) {
        if (!this.#line.endsInCode) this.#shownOpens += isClose ? -1 : 1
        continue
      }
      const isAlone = this.#line.isBlank && this.#shownOpens === 0
      if (isAlone) this.#orphanAt ??= this.#writtenChars + parts.reduce((sum, part) => sum + part.length, 0)
      from += tag[0].length
    }
    this.#give(line.slice(from), parts)
    return line.length
  }

  #give(text: string, parts: string[]): void {
    if (text === '') return
    this.#line.add(text)
    parts.push(text)
  }
}

/** What has to be known of the line that is read, and of the code around it. */
class Line {
  #start = ''
  #last = ''
  #fence: RegExp | null = null
  isBlank = true

  /** Nothing of it was read yet, and no code is open. */
  get isFresh(): boolean {
    return this.#start === '' && this.#fence === null
  }

  get isFenced(): boolean {
    return this.#fence !== null
  }

  /** Behind a backtick, and in the first line of a fence. */
  get endsInCode(): boolean {
    return this.#last === '`' || FENCE.test(this.#start)
  }

  /** Text without a line break but at its end. */
  add(text: string): void {
    this.#start = (this.#start + text.slice(0, MAX_FENCE_LINE)).slice(0, MAX_FENCE_LINE)
    this.#last = text.at(-1)!
    this.isBlank &&= text.trim() === ''
    if (this.#last !== '\n') return
    if (this.#fence === null) this.#fence = fenceEnd(this.#start)
    else if (this.#fence.test(this.#start)) this.#fence = null
    this.restart()
  }

  restart(): void {
    this.#start = ''
    this.#last = ''
    this.isBlank = true
  }
}

const FENCE = /^ {0,3}(?:(`{3,})[^`]*$|(~{3,}))/

/** The line that ends the fence which `line` begins; `null` when it begins none. */
function fenceEnd(line: string): RegExp | null {
  const found = FENCE.exec(line)
  const mark = found?.[1] ?? found?.[2]
  return mark === undefined ? null : new RegExp(`^ {0,3}[${mark[0]}]{${mark.length},}[ \\t]*\\r?\\n?$`)
}

/** Lines without a tag or a fence. */
const PLAIN_LINES = /^[^<`~]*\n/

const MAX_TAG = 64

/** How many characters at the end of a text may be the beginning of a tag. */
function partialTag(text: string): number {
  const tail = text.slice(-MAX_TAG)
  const at = tail.lastIndexOf('<')
  return at === -1 || !/^<\/?[\w-]*$/.test(tail.slice(at)) ? 0 : tail.length - at
}

function escaped(name: string): string {
  return name.replace(/[^\w-]/g, '\\$&')
}
