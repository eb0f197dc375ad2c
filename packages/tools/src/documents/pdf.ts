import { extractText, getDocumentProxy } from 'unpdf'
import type { DocumentText } from './document-kind.js'

/** Text of the pages of a PDF. One of scanned images has none, and the note says so. */
export async function pdfText(bytes: Uint8Array, signal: AbortSignal): Promise<DocumentText | null> {
  // The library keeps the memory it is given.
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 })
  try {
    signal.throwIfAborted()
    const { totalPages, text } = await extractText(document, { mergePages: false })
    const isEmpty = text.every((page) => page.trim() === '')
    const pages = text.map((page, at) => `=== page ${at + 1} ===\n${page.trim()}`)
    const what = `PDF, ${totalPages} ${totalPages === 1 ? 'page' : 'pages'}`
    return isEmpty ? { text: '', what: `${what} without text: they are images` } : { text: pages.join('\n\n'), what }
  } finally {
    await document.loadingTask.destroy()
  }
}
