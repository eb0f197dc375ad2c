import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

const FOLDER = join(import.meta.dirname, 'pages')

/** A page as somebody saved it, and what a reader wants of it. */
export interface SavedPage {
  readonly name: string
  /** Without the marks. */
  readonly html: string
  readonly words: readonly string[]
  /** Of each `pre`, byte for byte. */
  readonly code: readonly string[]
  /** Of each table, its cells row by row. */
  readonly tables: readonly (readonly (readonly string[])[])[]
}

/** Thirty pages of thirty kinds, written for this: elements with `data-right` hold what a reader wants. */
export function savedPages(): readonly SavedPage[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.html'))
  return names.sort().map((name) => {
    const marked = readFileSync(join(FOLDER, name), 'utf8')
    const { document } = parseHTML(marked)
    const right = [...document.querySelectorAll('[data-right]')]
    const ofKind = (kind: string) => right.filter(({ localName }) => localName === kind)
    for (const line of document.querySelectorAll('pre br')) line.replaceWith('\n')
    return {
      name: name.replace('.html', ''),
      html: marked.replaceAll(' data-right', ''),
      words: right.flatMap((element) => wordsOf(textOf(element))),
      code: ofKind('pre').map(({ textContent }) => textContent ?? ''),
      tables: ofKind('table').map((table) =>
        [...table.querySelectorAll('tr')].map((row) =>
          [...row.querySelectorAll('th, td')].map(({ textContent }) => textContent ?? ''),
        ),
      ),
    }
  })
}

/** Cells and lines that touch are words of their own. */
const textOf = (element: { readonly innerHTML: string }) =>
  element.innerHTML
    .replace(/<\/?(?:t[dhr]|br|li|caption|p)\b[^>]*>/g, ' ')
    .replace(/<[^>]+>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')

const SEGMENTS = new Intl.Segmenter('und', { granularity: 'word' })

/** The words of a text, whatever its script. */
export function wordsOf(text: string): readonly string[] {
  return [...SEGMENTS.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment.toLowerCase()] : []))
}

/** Of Markdown, without what only marks and links. */
export function wordsOfMarkdown(text: string): readonly string[] {
  return wordsOf(text.replace(/!\[[^\]]*\]\([^)]*\)/g, '').replace(/\]\([^)\s]*\)/g, ']').replace(/^```\w*$/gm, ''))
}

/** How much of what is wanted is there, and how much of what is there is not wanted, as shares. */
export function compareWords(right: readonly string[], got: readonly string[]): { readonly found: number; readonly other: number } {
  const left = new Map<string, number>()
  for (const word of right) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of got) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    shared++
  }
  return { found: shared / right.length, other: got.length === 0 ? 0 : 1 - shared / got.length }
}

/** The article library without what is around it here; empty where it fails. */
export function readabilityAlone(html: string): string {
  try {
    return new Readability(parseHTML(html).document as never).parse()?.textContent ?? ''
  } catch {
    return ''
  }
}

/** What the libraries give that pages are read by. */
export function librariesAlone(html: string): string {
  const options = { serializer: (node: unknown) => node }
  const found = new Readability(parseHTML(html).document as never, options as never).parse()
  return found ? new TurndownService().turndown(found.content as never) : ''
}
