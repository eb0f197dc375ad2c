import type { ImagePart } from '@hermes/contracts/conversation'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'

// This module loads image decoders, so it is itself loaded on first use.

/** What every vendor takes: beyond it some refuse and the others scale down themselves. */
const MAX_SIDE_PIXELS = 1_568
const MAX_BYTES = 3_500_000
const JPEG_QUALITY = 80
/** A picture of more is not unpacked: four bytes a pixel. */
const MAX_PIXELS = 100_000_000

interface Bitmap {
  readonly width: number
  readonly height: number
  /** Red, green, blue, alpha. */
  readonly data: Uint8Array
}

/** A smaller image; the same one when it is small enough; `null` when it is neither PNG nor JPEG, or broken. */
export function shrinkImage(image: ImagePart): ImagePart | null {
  const bytes = Buffer.from(image.data, 'base64')
  const bitmap = decode(bytes)
  if (!bitmap) return null
  const scale = Math.min(1, MAX_SIDE_PIXELS / Math.max(bitmap.width, bitmap.height))
  if (scale === 1 && bytes.length <= MAX_BYTES) return image
  const { data } = jpeg.encode(onWhite(scaled(bitmap, scale)), JPEG_QUALITY)
  return { ...image, mediaType: 'image/jpeg', data: Buffer.from(data).toString('base64') }
}

/** Goes by the first bytes: the media type may be wrong. */
function decode(bytes: Buffer): Bitmap | null {
  try {
    if (bytes.subarray(1, 4).toString('latin1') === 'PNG') {
      const pixels = bytes.readUInt32BE(16) * bytes.readUInt32BE(20)
      return pixels > MAX_PIXELS ? null : PNG.sync.read(bytes)
    }
    if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null
    return jpeg.decode(bytes, { useTArray: true, maxResolutionInMP: MAX_PIXELS / 1e6, maxMemoryUsageInMB: 1_024 })
  } catch {
    return null
  }
}

/** Each new pixel is the mean of those it covers. */
function scaled(from: Bitmap, scale: number): Bitmap {
  if (scale === 1) return from
  const width = Math.max(1, Math.round(from.width * scale))
  const height = Math.max(1, Math.round(from.height * scale))
  const data = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++) {
    const rows = span(y, height, from.height)
    for (let x = 0; x < width; x++) {
      data.set(meanOf(from, rows, span(x, width, from.width)), (y * width + x) * 4)
    }
  }
  return { width, height, data }
}

type Span = readonly [start: number, end: number]

function span(index: number, count: number, total: number): Span {
  const start = Math.floor((index * total) / count)
  return [start, Math.max(start + 1, Math.floor(((index + 1) * total) / count))]
}

function meanOf({ data, width }: Bitmap, [top, bottom]: Span, [left, right]: Span): number[] {
  const sums = [0, 0, 0, 0]
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++)
      for (let channel = 0; channel < 4; channel++) sums[channel]! += data[(y * width + x) * 4 + channel]!
  const count = (bottom - top) * (right - left)
  return sums.map((sum) => Math.round(sum / count))
}

/** JPEG knows no transparency. */
function onWhite({ width, height, data }: Bitmap): Bitmap {
  const opaque = Buffer.from(data)
  for (let at = 0; at < opaque.length; at += 4) {
    const alpha = opaque[at + 3]! / 255
    for (let channel = 0; channel < 3; channel++)
      opaque[at + channel] = Math.round(opaque[at + channel]! * alpha + 255 * (1 - alpha))
    opaque[at + 3] = 255
  }
  return { width, height, data: opaque }
}
