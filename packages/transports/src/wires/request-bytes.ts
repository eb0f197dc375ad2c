/** What was sent last of each conversation. */
const pages = new WeakMap<object, Page>()

/** The bytes of a request body. */
interface LentBody {
  readonly bytes: Buffer<ArrayBuffer>
  /** For what a server has answered: the next request of the conversation is written over it. Without it the bytes stay as they are. */
  giveBack(): void
}

/**
 * The JSON of a request body in UTF-8, the same as of `JSON.stringify`. Its `messages` or `input` grow with the `conversation`, an object
 * that stands for it: while that lives, each request is the one before with more at its end, so that a long conversation is not written,
 * nor held in memory, anew for every call. Items of lists are taken as never changing.
 */
export function lendBody(body: object, conversation: object): LentBody {
  const known = pages.get(conversation)
  const page = known && !known.isLent ? known : new Page()
  pages.set(conversation, page)
  page.isLent = true
  const giveBack = () => {
    page.isLent = false
  }
  return { bytes: page.write(body), giveBack }
}

const FIRST_BYTES = 32_768
/** Room for what comes next. */
const GROWTH = 1.5
/** Room that a conversation does not need any more goes. */
const MAX_ROOM = 4

/** One body, written over the one before from where they differ. */
class Page {
  /** Whether somebody may still be sending it. */
  isLent = false
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #head = ''
  readonly #items: unknown[] = []
  /** Where the head ends, and each of the items. */
  readonly #ends: number[] = []

  write(body: object): Buffer<ArrayBuffer> {
    const { head, list, tail } = partsOf(body)
    if (head !== this.#head) {
      this.#head = head
      this.#items.length = 0
      this.#ends.splice(0, Infinity, this.#put(head, 0))
    }
    list.forEach((item, at) => {
      if (at < this.#items.length && this.#items[at] === item) return
      const end = this.#put(`${at > 0 ? ',' : ''}${JSON.stringify(item) ?? 'null'}`, this.#ends[at]!)
      // As long as what stood there: all behind it still stands where it did.
      if (end !== this.#ends[at + 1]) {
        this.#cut(at)
        this.#ends.push(end)
      }
      this.#items[at] = item
    })
    this.#cut(list.length)
    let end = this.#ends.at(-1)!
    for (const text of tail) end = this.#put(text, end)
    if (this.#bytes.length > Math.max(end * MAX_ROOM, FIRST_BYTES)) this.#move(end)
    return this.#bytes.subarray(0, end)
  }

  #cut(at: number): void {
    if (at >= this.#items.length) return
    this.#items.length = at
    this.#ends.length = at + 1
  }

  /** Gives where the text ends. */
  #put(text: string, at: number): number {
    const end = at + Buffer.byteLength(text)
    if (end > this.#bytes.length) this.#move(end)
    this.#bytes.write(text, at)
    return end
  }

  #move(size: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.ceil(size * GROWTH))
    this.#bytes.copy(bytes)
    this.#bytes = bytes
  }
}

/** Definitions of tools stay the same, as a list, for as long as a session. */
const written = new WeakMap<readonly unknown[], string>()

/** The JSON of a body: what comes before its messages, and the texts after them. */
function partsOf(body: object): {
  readonly head: string
  readonly list: readonly unknown[]
  readonly tail: readonly string[]
} {
  let list: readonly unknown[] | null = null
  let head = '{'
  const tail: string[] = []
  let comma = ''
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined) continue
    const name = `${comma}${JSON.stringify(key)}:`
    comma = ','
    if (list) tail.push(name, Array.isArray(value) ? listText(value) : JSON.stringify(value))
    else if (Array.isArray(value) && (key === 'messages' || key === 'input')) {
      list = value
      head += `${name}[`
      tail.push(']')
    } else head += name + JSON.stringify(value)
  }
  return { head, list: list ?? [], tail: [...tail, '}'] }
}

function listText(list: readonly unknown[]): string {
  let text = written.get(list)
  if (text === undefined) written.set(list, (text = JSON.stringify(list)))
  return text
}
