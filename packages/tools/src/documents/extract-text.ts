import type { DocumentKind, DocumentText } from './document-kind.js'

/**
 * The text in a document; `null` when it is not what its name says, or damaged. Layout, images, comments and formulas are left out.
 * Abort rejects. The libraries it needs are loaded here.
 */
export async function extractText(
  kind: DocumentKind,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText | null> {
  try {
    switch (kind) {
      case 'notebook':
        return (await import('./notebook.js')).notebookText(bytes)
      case 'pdf':
        return await (await import('./pdf.js')).pdfText(bytes, signal)
      case 'docx':
      case 'xlsx':
      case 'pptx':
      case 'odt':
        return (await import('./office.js')).officeText(kind, bytes)
      default:
        return kind satisfies never
    }
  } catch {
    signal.throwIfAborted()
    // A document that cannot be read is treated as the bytes it is made of.
    return null
  }
}
