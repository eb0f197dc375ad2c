import { isJsonObject, type JsonValue } from '@hermes/contracts'
import type { ImagePart, TextPart } from '@hermes/contracts/conversation'
import type { ToolResult } from '@hermes/contracts/tool'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

const MOST_IMAGES = 8
/** Of base64. */
const MOST_IMAGE_CHARS = 7_000_000
const MOST_BLOCKS = 1_000
/** Scripts get data; what is longer they find in the text. */
const MOST_DATA_CHARS = 1_000_000

/** What a call of a server came to, for the model: texts and images in their order, the rest named, `structuredContent` as data. */
export function toToolResult(result: CallToolResult): ToolResult {
  const blocks = result.content.slice(0, MOST_BLOCKS)
  const parts = limitImages(blocks.map(toPart))
  const left = result.content.length - blocks.length
  if (left > 0) parts.push({ type: 'text', text: `[${left} more parts are left out]` })
  const data = dataOf(result.structuredContent)
  const isEmpty = parts.every((part) => part.type === 'text' && part.text.trim() === '')
  const isError = result.isError === true
  const head = isEmpty ? (data === undefined ? '(no content)' : JSON.stringify(data)) : undefined
  return {
    ...(data === undefined ? {} : { data }),
    text: head ?? textBefore(parts),
    parts: isEmpty ? [] : parts.slice(leading(parts)),
    external: true,
    ...(isError ? { isError } : {}),
  }
}

type Part = TextPart | ImagePart

/** How many texts stand before the first image. */
function leading(parts: readonly Part[]): number {
  const first = parts.findIndex(({ type }) => type !== 'text')
  return first < 0 ? parts.length : first
}

function textBefore(parts: readonly Part[]): string {
  return parts
    .slice(0, leading(parts))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
}

function dataOf(structured: unknown): JsonValue | undefined {
  if (!isJsonObject(structured) && !Array.isArray(structured)) return undefined
  return JSON.stringify(structured).length <= MOST_DATA_CHARS ? (structured as JsonValue) : undefined
}

/** One part of a result, a prompt or a resource. */
function toPart(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return text(block.text)
    case 'image':
      return imagePart(block.mimeType, block.data)
    case 'audio':
      return text(`[a recording, ${block.mimeType}, ${bytes(block.data)}, which cannot be heard here]`)
    case 'resource_link':
      return text(`[resource ${block.name}: ${block.uri}]`)
    case 'resource':
      return resourcePart(block.resource)
    default:
      block satisfies never
      return text('[a part of a kind that is not known here]')
  }
}

/** What a resource holds. */
export function resourcePart(resource: {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string
  readonly blob?: string
}): Part {
  const { uri, mimeType = 'application/octet-stream', text: content, blob = '' } = resource
  if (content !== undefined) return text(content)
  if (mimeType.startsWith('image/')) return imagePart(mimeType, blob)
  return text(`[${uri}: ${mimeType}, ${bytes(blob)}, which is no text]`)
}

const text = (of: string): TextPart => ({ type: 'text', text: of })

function imagePart(mediaType: string, data: string): Part {
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType))
    return text(`[an image of type ${mediaType}, which no model sees]`)
  if (data.length > MOST_IMAGE_CHARS) return text(`[an image of ${bytes(data)}, too large to be shown]`)
  return { type: 'image', mediaType, data }
}

const bytes = (base64: string) => `${Math.floor((base64.length * 3) / 4)} bytes`

function limitImages(parts: readonly Part[]): Part[] {
  let images = 0
  return parts.map((part) =>
    part.type === 'image' && ++images > MOST_IMAGES ? text('[one more image is left out]') : part,
  )
}
