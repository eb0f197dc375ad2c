import { fileURLToPath } from 'node:url'
import type { ContentBlock, EmbeddedResourceResource } from '@agentclientprotocol/sdk'
import type { UserPart } from '@hermes/contracts/conversation'

const MAX_ATTACHED_CHARS = 200_000

/**
 * What a prompt says, or one line where it says nothing. Links to files below `cwd` become references, which the agent attaches;
 * others stay links: the agent opens what it needs with its tools.
 */
export function toUserParts(blocks: readonly ContentBlock[], cwd: string): readonly UserPart[] | string {
  const parts = blocks.map((block) => toUserPart(block, cwd))
  const isEmpty = parts.every((part) => part.type === 'text' && part.text.trim() === '')
  return isEmpty ? 'The prompt is empty. Give it some text.' : parts
}

function toUserPart(block: ContentBlock, cwd: string): UserPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'image', mediaType: block.mimeType, data: block.data }
    case 'audio':
      return { type: 'audio', mediaType: block.mimeType, data: block.data }
    case 'resource_link':
      return { type: 'text', text: `\n${linkText(block.uri, cwd)}\n` }
    case 'resource':
      return resourcePart(block.resource)
    default:
      return block satisfies never
  }
}

function linkText(uri: string, cwd: string): string {
  const name = nameOf(uri)
  if (!name.startsWith(`${cwd}/`) || /["\n]/.test(name)) return `[Attached: ${name}]`
  const [, lines = ''] = /#L?(\d+(?:[-:]L?\d+)?)$/.exec(uri) ?? []
  return `@file:"${name}"${lines === '' ? '' : `:${lines.replace(/[:L-]+/g, '-')}`}`
}

/** Embedded text is material from outside, not the user's own words. */
function resourcePart(resource: EmbeddedResourceResource): UserPart {
  const name = nameOf(resource.uri)
  if ('text' in resource)
    return {
      ...({ type: 'text', text: `Contents of ${name}:\n\n${clip(resource.text)}`, origin: 'external' } as const),
      sources: [
        resource.uri.startsWith('file://')
          ? { type: 'file', path: name }
          : { type: 'person', name: `what ${name} holds` },
      ],
    }
  if (resource.mimeType?.startsWith('image/'))
    return { type: 'image', mediaType: resource.mimeType, data: resource.blob }
  if (resource.mimeType?.startsWith('audio/'))
    return { type: 'audio', mediaType: resource.mimeType, data: resource.blob, name }
  if (resource.mimeType === 'application/pdf')
    return { type: 'file', mediaType: resource.mimeType, data: resource.blob, name }
  return { type: 'text', text: `\n[Attached: ${name}, ${resource.mimeType ?? 'binary'}, not shown]\n` }
}

/** The path of a file, else the address. */
function nameOf(uri: string): string {
  try {
    return uri.startsWith('file://') ? fileURLToPath(uri) : uri
  } catch {
    return uri
  }
}

function clip(text: string): string {
  if (text.length <= MAX_ATTACHED_CHARS) return text
  return `${text.slice(0, MAX_ATTACHED_CHARS).toWellFormed()}\n[… ${text.length - MAX_ATTACHED_CHARS} more characters]`
}
