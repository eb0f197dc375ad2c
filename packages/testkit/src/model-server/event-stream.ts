import { crc32 } from 'node:zlib'

const STRING_HEADER = 7
const PRELUDE_BYTES = 12
const CRC_BYTES = 4

/**
 * One message of Amazon's binary event stream: lengths and their checksum, headers of strings, a payload, and the checksum of it all.
 *
 * @see https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function encodeEventMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)))
  const body = Buffer.from(payload, 'utf8')
  const message = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CRC_BYTES)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(head.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  head.copy(message, PRELUDE_BYTES)
  body.copy(message, PRELUDE_BYTES + head.length)
  message.writeUInt32BE(crc32(message.subarray(0, -CRC_BYTES)), message.length - CRC_BYTES)
  return message
}

function encodeHeader(name: string, value: string): Buffer {
  const text = Buffer.from(value, 'utf8')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([Buffer.of(Buffer.byteLength(name)), Buffer.from(name), Buffer.of(STRING_HEADER), length, text])
}
