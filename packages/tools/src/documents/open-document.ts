import type { FileStat } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { type DocumentKind, type DocumentText, documentKind, MAX_DOCUMENT_BYTES } from './document-kind.js'

interface Kept {
  readonly version: string
  readonly document: DocumentText | null
}

/** Pages of one document are read one after the other: the text is kept that long. */
const KEPT_DOCUMENTS = 3

/** The text of `real` when its name says that it is a document and it is one. */
export async function openDocument(context: ToolContext, real: string, stat: FileStat): Promise<DocumentText | null> {
  const kind = documentKind(real)
  if (!kind || stat.sizeBytes > MAX_DOCUMENT_BYTES) return null
  const kept = context.state.scratch('documents', () => new Map<string, Kept>())
  const last = kept.get(real)
  if (last?.version === stat.version) return last.document
  const document = await extract(context, real, kind)
  kept.delete(real)
  kept.set(real, { version: stat.version, document })
  if (kept.size > KEPT_DOCUMENTS) kept.delete(kept.keys().next().value!)
  return document
}

async function extract({ environment, signal }: ToolContext, real: string, kind: DocumentKind) {
  const bytes = await environment.read(real, { offset: 0, length: MAX_DOCUMENT_BYTES, noLinks: true })
  if (!bytes) return null
  const { extractText } = await import('./extract-text.js')
  return extractText(kind, bytes, signal)
}
