import type { FileStat } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import type { ToolSettings } from '../settings.js'
import {
  type DocumentKind,
  type DocumentText,
  documentKind,
  MAX_DOCUMENT_BYTES,
  type OversizedDocument,
} from './document-kind.js'

type OpenedDocument = DocumentText | OversizedDocument | null

interface Kept {
  readonly version: string
  readonly document: OpenedDocument
}

/** Pages of one document are read one after the other: the text is kept that long. */
const KEPT_DOCUMENTS = 3
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024

/** The text of `real` when its name says that it is a document and it is one. Abort rejects with its reason. */
export async function openDocument(
  context: Pick<ToolContext, 'environment' | 'signal' | 'state'>,
  {
    real,
    stat,
    settings,
  }: {
    readonly real: string
    readonly stat: FileStat
    readonly settings: Pick<ToolSettings, 'documentLimits' | 'isolationSupport'>
  },
): Promise<OpenedDocument> {
  const kind = documentKind(real)
  if (!kind || stat.sizeBytes > MAX_DOCUMENT_BYTES) return null
  const kept = context.state.scratch('documents', () => new Map<string, Kept>())
  const last = kept.get(real)
  if (last?.version === stat.version) return last.document
  const document = await extract(context, { real, kind, settings })
  kept.delete(real)
  kept.set(real, { version: stat.version, document })
  if (kept.size > KEPT_DOCUMENTS) kept.delete(kept.keys().next().value!)
  return document
}

async function extract(
  { environment, signal }: Pick<ToolContext, 'environment' | 'signal'>,
  {
    real,
    kind,
    settings,
  }: {
    readonly real: string
    readonly kind: DocumentKind
    readonly settings: Pick<ToolSettings, 'documentLimits' | 'isolationSupport'>
  },
): Promise<OpenedDocument> {
  const bytes = await environment.read(real, { offset: 0, length: MAX_DOCUMENT_BYTES, noLinks: true })
  return bytes && readDocument(kind, bytes, { ...settings, signal })
}

/**
 * The text of a document; `null` for bytes that are none. Somebody else made it, and what reads it has to understand a lot: it does so in a
 * process of its own. Abort rejects with its reason.
 */
export async function readDocument(
  kind: DocumentKind,
  bytes: Uint8Array,
  {
    documentLimits,
    isolationSupport,
    signal,
  }: Pick<ToolSettings, 'documentLimits' | 'isolationSupport'> & { readonly signal: AbortSignal },
): Promise<OpenedDocument> {
  const [{ runConfined }, { extractTextModule: module }] = await Promise.all([
    import('@hermes/sandbox/confined'),
    import('./extract-text.js'),
  ])
  const support = isolationSupport === undefined ? {} : { support: isolationSupport }
  const limits = { ...documentLimits, maxOutputBytes: MAX_OUTPUT_BYTES }
  const result = await runConfined({ module, bytes, argument: kind, signal, ...limits, ...support })
  const oversized = (limit: string): OversizedDocument => ({ type: 'oversized', what: NAMES[kind], limit })
  switch (result.type) {
    case 'done':
      return result.value as DocumentText | null
    case 'failed':
      return null
    case 'out-of-memory':
      return oversized(`${Math.round(documentLimits.maxResidentBytes / 2 ** 20)} MB of memory`)
    case 'out-of-time':
      return oversized(`${documentLimits.timeoutMs / 1000} s`)
    case 'too-long':
      return oversized(`${MAX_OUTPUT_BYTES / 2 ** 20} MB of text`)
    default:
      return result satisfies never
  }
}

const NAMES: Readonly<Record<DocumentKind, string>> = Object.freeze({
  notebook: 'notebook',
  pdf: 'PDF',
  docx: 'Word document',
  xlsx: 'workbook',
  pptx: 'presentation',
  odt: 'OpenDocument',
})
