/** Files that are read as the text in them. */
export type DocumentKind = 'notebook' | 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'odt'

const KINDS: Readonly<Record<string, DocumentKind>> = Object.freeze({
  ipynb: 'notebook',
  pdf: 'pdf',
  docx: 'docx',
  docm: 'docx',
  xlsx: 'xlsx',
  xlsm: 'xlsx',
  pptx: 'pptx',
  pptm: 'pptx',
  odt: 'odt',
  odp: 'odt',
})

/** Larger ones are told apart from text as any binary file is. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024

/** What kind of document the name of a file says it is. */
export function documentKind(path: string): DocumentKind | null {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(KINDS, extension) ? KINDS[extension]! : null
}

/** The text of a document, and what it was, for a note. */
export interface DocumentText {
  readonly text: string
  /** For example `PDF, 12 pages`. */
  readonly what: string
}
