import {
  foldersOf,
  type Message,
  type NewEntry,
  type Provenance,
  settle,
  settlePart,
} from '@hermes/contracts/conversation'
import type { FolderTrust } from '@hermes/contracts/policy'

/** An entry in which each part and layer says whether it taints, by its sources and by what the person trusts now. */
export async function settleSources(entry: NewEntry, trust: FolderTrust | undefined): Promise<NewEntry> {
  if (entry.type === 'prompt' && entry.layers?.some(isSourced)) {
    const isTrusted = await trusted(entry.layers, trust)
    return { ...entry, layers: entry.layers.map((layer) => settle(layer, isTrusted)) }
  }
  if (entry.type !== 'message') return entry
  const content = await settleParts<Message['content'][number]>(entry.message.content, trust)
  return content === entry.message.content ? entry : { ...entry, message: { ...entry.message, content } as Message }
}

/** The same for parts that go to a program and not into the log. */
export async function settleParts<Part extends Message['content'][number]>(
  parts: readonly Part[],
  trust: FolderTrust | undefined,
): Promise<readonly Part[]> {
  if (!parts.some(isSourced)) return parts
  const isTrusted = await trusted(parts, trust)
  return parts.map((part) => settlePart(part, isTrusted))
}

const isSourced = (of: object): boolean => 'sources' in of || 'taints' in of

async function trusted(
  of: readonly (Provenance | object)[],
  trust: FolderTrust | undefined,
): Promise<(folder: string) => boolean> {
  const folders = new Set(foldersOf(of.flatMap((one) => ('sources' in one ? (one.sources ?? []) : []))))
  const answers = await Promise.all(
    [...folders].map(async (folder) => [folder, await trust?.isTrusted(folder)] as const),
  )
  const known = new Map(answers)
  return (folder) => known.get(folder) === true
}
