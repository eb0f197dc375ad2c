import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import type { DocumentText } from './document-kind.js'

/** A file can name one page a hundred thousand times. */
const MAX_PAGES = 2_000
const MAX_TEXT_CHARS = 16 * 1024 * 1024

/** Text of the pages of a PDF, one after the other, up to two thousand of them. One of scanned images has none, and the note says so. */
export async function pdfText(bytes: Uint8Array): Promise<DocumentText | null> {
  // The library keeps the memory it is given.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 })
  try {
    const total = document.numPages
    const texts: string[] = []
    let room = MAX_TEXT_CHARS
    for (let number = 1; number <= Math.min(total, MAX_PAGES) && room > 0; number++) {
      const text = await pageText(document, number)
      room -= text.length
      texts.push(text)
    }
    const pages = texts.map((text, at) => `=== page ${at + 1} ===\n${text}`)
    if (texts.length < total) pages.push(`[… ${total - texts.length} more pages are left out]`)
    const what = `PDF, ${total} ${total === 1 ? 'page' : 'pages'}`
    const isEmpty = texts.every((text) => text === '')
    return isEmpty
      ? { type: 'text', text: '', what: `${what} without text: they are images` }
      : { type: 'text', text: pages.join('\n\n'), what }
  } finally {
    await document.loadingTask.destroy()
  }
}

async function pageText(document: Awaited<ReturnType<typeof getDocumentProxy>>, number: number): Promise<string> {
  const page = await document.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  const pieces = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
  return pieces.join('').trim()
}

/** Loads the library, which `pdfText` does otherwise. */
export const loadLibrary: () => Promise<unknown> = getResolvedPDFJS
