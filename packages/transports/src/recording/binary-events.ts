// Amazon's binary event stream as a recording keeps it: in the form of server-sent events, which reads well and takes placeholders.
// @see https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html

const MEDIA_TYPE = 'application/vnd.amazon.eventstream'
const PRELUDE_BYTES = 12
const CRC_BYTES = 4
const STRING_HEADER = 7
/** Stands before the name of an exception in place of that of an event. */
const EXCEPTION = 'exception '

/** Whether a content type is that of the binary stream. */
export function isBinaryEvents(mediaType: string | undefined): boolean {
  return mediaType?.startsWith(MEDIA_TYPE) ?? false
}

/** The messages of a stream as server-sent events, without the service's padding. @throws RangeError for a stream that was cut. */
export function readBinaryEvents(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let text = ''
  for (let at = 0; at < buffer.length; at += buffer.readUInt32BE(at)) {
    const end = at + buffer.readUInt32BE(at)
    if (end > buffer.length || end < at + PRELUDE_BYTES + CRC_BYTES) throw new RangeError('The stream was cut.')
    const payloadAt = at + PRELUDE_BYTES + buffer.readUInt32BE(at + 4)
    const headers = readHeaders(buffer.subarray(at + PRELUDE_BYTES, payloadAt))
    const exception = headers[':exception-type']
    const name = exception === undefined ? headers[':event-type'] : EXCEPTION + exception
    const { p: _, ...data } = JSON.parse(buffer.toString('utf8', payloadAt, end - CRC_BYTES)) as { p?: unknown }
    text += `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  }
  return text
}

/** A message of the stream from what {@link readBinaryEvents} made of it. */
export function writeBinaryEvent(event: string): Buffer {
  const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)\n\n$/s.exec(event) ?? []
  const isException = name.startsWith(EXCEPTION)
  const kind = isException ? 'exception' : 'event'
  const head = writeHeaders({
    [`:${kind}-type`]: isException ? name.slice(EXCEPTION.length) : name,
    ':content-type': 'application/json',
    ':message-type': kind,
  })
  const body = Buffer.from(data, 'utf8')
  const { crc32 } = process.getBuiltinModule('node:zlib')
  const message = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CRC_BYTES)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(head.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  message.set(head, PRELUDE_BYTES)
  message.set(body, PRELUDE_BYTES + head.length)
  message.writeUInt32BE(crc32(message.subarray(0, -CRC_BYTES)), message.length - CRC_BYTES)
  return message
}

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    if (bytes.readUInt8(nameEnd) !== STRING_HEADER) throw new RangeError('A header of the stream is no string.')
    const valueAt = nameEnd + 3
    const end = valueAt + bytes.readUInt16BE(nameEnd + 1)
    headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', valueAt, end)
    at = end
  }
  return headers
}

function writeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const written = Object.entries(headers).map(([name, value]) => {
    const text = Buffer.from(value, 'utf8')
    const head = Buffer.from([name.length, ...Buffer.from(name), STRING_HEADER, text.length >> 8, text.length & 0xff])
    return Buffer.concat([head, text])
  })
  return Buffer.concat(written)
}
