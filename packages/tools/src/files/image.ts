import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { failure, plural } from '../result-text.js'

const MEDIA_TYPES: Readonly<Record<string, string>> = Object.freeze({
  'PNG image': 'image/png',
  'JPEG image': 'image/jpeg',
  'GIF image': 'image/gif',
  'WebP image': 'image/webp',
})

const MAX_BYTES = 10 * 1024 * 1024

/** Whether models can be shown this kind of file. */
export const isShowable = (kind: string): boolean => Object.hasOwn(MEDIA_TYPES, kind)

/** The image itself, for a model that sees. */
export async function showImage(
  { environment }: ToolContext,
  {
    path,
    real,
    kind,
    sizeBytes,
  }: { readonly path: string; readonly real: string; readonly kind: string; readonly sizeBytes: number },
): Promise<ToolResult> {
  if (sizeBytes > MAX_BYTES)
    return failure(
      `${path} is a ${kind} of ${plural(sizeBytes, 'byte')}; at most ${MAX_BYTES} are shown. Make a smaller copy with a command in terminal, and read that.`,
    )
  const bytes = await environment.read(real, { offset: 0, length: MAX_BYTES, noLinks: true })
  if (!bytes) return failure(`${path} disappeared while it was read.`)
  const mediaType = MEDIA_TYPES[kind]!
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  return {
    text: `${path} is a ${kind}, ${plural(sizeBytes, 'byte')}; here it is:`,
    data: { path, media_type: mediaType, file_size: sizeBytes },
    parts: [{ type: 'image', mediaType, data, name: path.slice(path.lastIndexOf('/') + 1) }],
  }
}
