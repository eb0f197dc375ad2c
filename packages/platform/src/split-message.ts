import type { PlatformAbilities } from '@hermes/contracts/platform'

/** A code block that is open: the line that began it, cut to what matters, and the line that ends it. */
interface Fence {
  readonly opening: string
  readonly mark: string
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm
const WINDOW = 1_000
/** What a cut should not go through: code, links, addresses. Bounded, as nobody checks what they wrote. */
const WHOLE = /`[^`\n]{1,300}`|!?\[[^\]\n]{0,300}\]\([^)\s]{1,500}\)|https?:\/\/\S{1,500}/g
const MAX_LANGUAGE = 20

/**
 * Cuts Markdown into parts that a platform takes, in linear time: between paragraphs where it can, else lines, else words. A code block that is cut is closed
 * and opened again; links, inline code, and characters stay whole unless one alone is longer than a part. White space around a cut goes.
 */
export function splitMessage(text: string, { unit, limit }: PlatformAbilities['maxLength']): readonly string[] {
  const size = (piece: string) => sizeIn(piece, unit)
  const parts: string[] = []
  let at = 0
  let fence: Fence | null = null
  while (at < text.length) {
    const opening: string = fence ? `${fence.opening}\n` : ''
    const whole = opening + text.slice(at)
    if (text.length - at <= limit && size(whole) <= limit) {
      if (hasWords(whole, fence)) parts.push(whole)
      break
    }
    const room = Math.max(1, limit - size(opening))
    const { end, next, after } = cutAt(text, { at, fence, unit, room })
    const part = opening + text.slice(at, end) + (after ? `\n${after.mark}` : '')
    if (hasWords(part, fence)) parts.push(part)
    at = next
    fence = after
  }
  return parts
}

interface Cut {
  /** Where this part ends, where the next one begins, and the code block that is open there. */
  readonly end: number
  readonly next: number
  readonly after: Fence | null
}

function cutAt(
  text: string,
  {
    at,
    fence,
    unit,
    room,
  }: { readonly at: number; readonly fence: Fence | null; readonly unit: Unit; readonly room: number },
): Cut {
  let budget = room
  for (;;) {
    const end = goodEnd(text, at, at + fitting(text, at, budget, unit))
    const after = fenceAfter(text.slice(at, end), fence)
    const closing = after ? sizeIn(`\n${after.mark}`, unit) : 0
    // So small that nothing of a code block fits: then it is cut without being closed.
    if (closing >= room) return { end, next: skipped(text, end), after: null }
    if (sizeIn(text.slice(at, end), unit) + closing <= room) return { end, next: skipped(text, end), after }
    budget = room - closing
  }
}

/** At most `most`, more than `at`. */
function goodEnd(text: string, at: number, most: number): number {
  if (most >= text.length) return text.length
  const least = at + Math.floor((most - at) / 3)
  const paragraph = text.lastIndexOf('\n\n', most)
  if (paragraph > least) return paragraph
  const line = text.lastIndexOf('\n', most)
  if (line > least) return line
  const word = wordEnd(text, at, most)
  return word > at ? word : most
}

function wordEnd(text: string, at: number, most: number): number {
  const from = Math.max(at, most - WINDOW)
  const near = text.slice(from, most + WINDOW)
  const spans = [...near.matchAll(WHOLE)].map(
    ({ index, 0: { length } }) => [from + index, from + index + length] as const,
  )
  const around = (end: number) => spans.find(([begin, stop]) => begin < end && end < stop)
  let end = most
  const cut = around(end)
  if (cut) end = cut[0]
  if (end <= at) return most
  if (/\s/.test(text[end] ?? '') && !around(end)) return end
  const blank = text.slice(from, end).search(/\s\S*$/)
  const before = blank < 0 ? -1 : from + blank
  if (before > at && !around(before)) return before
  return end
}

/** One line end, or blanks, at a cut. */
function skipped(text: string, end: number): number {
  if (text[end] === '\n') return text[end + 1] === '\n' ? end + 2 : end + 1
  let next = end
  while (text[next] === ' ') next++
  return next
}

function fenceAfter(part: string, before: Fence | null): Fence | null {
  let fence = before
  for (const [, mark = '', info = ''] of part.matchAll(FENCE)) {
    if (fence === null) {
      // A line of code with its own end is no block.
      if (mark.startsWith('`') && info.includes('`')) continue
      const language = info.trim().split(/\s/, 1)[0]!.slice(0, MAX_LANGUAGE)
      const short = mark.slice(0, MAX_LANGUAGE)
      fence = { opening: `${short}${/^[\w+#.-]*$/.test(language) ? language : ''}`, mark: short }
    } else if (info.trim() === '' && mark.startsWith(fence.mark)) fence = null
  }
  return fence
}

function hasWords(part: string, fence: Fence | null): boolean {
  return fence !== null || part.trim() !== ''
}

type Unit = PlatformAbilities['maxLength']['unit']

/** How long a text is for a platform. */
export function sizeIn(text: string, unit: Unit): number {
  switch (unit) {
    case 'utf16':
      return text.length
    case 'bytes':
      return Buffer.byteLength(text)
    case 'code-points': {
      let count = 0
      for (let index = 0; index < text.length; index += widthAt(text, index)) count++
      return count
    }
    default:
      return unit satisfies never
  }
}

/** How many UTF-16 units from `at` on fit into `room`, without cutting a character; at least one character. */
function fitting(text: string, at: number, room: number, unit: Unit): number {
  let [index, used] = [at, 0]
  if (unit === 'utf16') {
    index = Math.min(text.length, at + room)
    const isCut = index < text.length && index > at && widthAt(text, index - 1) === 2
    return Math.max(isCut ? index - 1 - at : index - at, widthAt(text, at))
  }
  while (index < text.length) {
    const width = widthAt(text, index)
    used += unit === 'bytes' ? Buffer.byteLength(text.slice(index, index + width)) : 1
    if (used > room) break
    index += width
  }
  return Math.max(index - at, widthAt(text, at))
}

function widthAt(text: string, index: number): number {
  const first = text.charCodeAt(index)
  const second = text.charCodeAt(index + 1)
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000 ? 2 : 1
}
