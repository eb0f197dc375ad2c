import type { DocumentKind, DocumentText } from './document-kind.js'

/** Where this module is, for the process that runs it. */
export const extractTextModule = import.meta.url

/**
 * The text in a document; `null` when it is not what its name says, or damaged. Layout, images, comments and formulas are left out.
 * The libraries it needs are loaded here.
 */
export async function confined(bytes: Uint8Array, kind: string): Promise<DocumentText | null> {
  try {
    return await extractText(kind as DocumentKind, bytes)
  } catch {
    // A document that cannot be read is treated as the bytes it is made of.
    return null
  }
}

async function extractText(kind: DocumentKind, bytes: Uint8Array): Promise<DocumentText | null> {
  switch (kind) {
    case 'notebook':
      return (await import('./notebook.js')).notebookText(bytes)
    case 'pdf':
      return (await import('./pdf.js')).pdfText(bytes)
    case 'docx':
    case 'xlsx':
    case 'pptx':
    case 'odt':
      return (await import('./office.js')).officeText(kind, bytes)
    default:
      return kind satisfies never
  }
}

/** Loads the libraries that documents of this kind need. */
export async function prepare(kind: string): Promise<void> {
  if (kind === 'notebook') await import('./notebook.js')
  else if (kind === 'pdf') await (await import('./pdf.js')).loadLibrary()
  else await import('./office.js')
}
