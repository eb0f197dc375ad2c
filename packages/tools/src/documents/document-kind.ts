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

/** What reading one document may take. */
export interface DocumentLimits {
  /** Resident memory of the process that reads it, Node's own 40 MB included. Default 512 MiB. */
  readonly maxResidentBytes: number
  /** Default 20,000. */
  readonly timeoutMs: number
}

/** The text of a document, and what it was, for a note. */
export interface DocumentText {
  readonly type: 'text'
  readonly text: string
  /** For example `PDF, 12 pages`. */
  readonly what: string
}

/** A document that takes more than {@link DocumentLimits} to read. */
export interface OversizedDocument {
  readonly type: 'oversized'
  /** For example `PDF`. */
  readonly what: string
  /** What it takes more of, for example `512 MB of memory`. */
  readonly limit: string
}
