/** JSON of messages and tools, which go out with every later request of their session and never change. */
const written = new WeakMap<object, Buffer>()

const COMMA = Buffer.from(',')

/**
 * The JSON of a request body in UTF-8, the same as of `JSON.stringify`. What stands in its lists is written once and kept for as long
 * as the object lives: a long conversation would otherwise be written anew for every call.
 */
export function requestBytes(body: object): Buffer<ArrayBuffer> {
  const pieces: Buffer[] = []
  let text = ''
  let before = '{'
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${before}${JSON.stringify(key)}:`
    before = ','
    if (!Array.isArray(value)) {
      text += JSON.stringify(value)
      continue
    }
    pieces.push(Buffer.from(`${text}[`))
    value.forEach((item, index) => {
      if (index > 0) pieces.push(COMMA)
      pieces.push(itemBytes(item))
    })
    text = ']'
  }
  pieces.push(Buffer.from(before === '{' ? '{}' : `${text}}`))
  return Buffer.concat(pieces)
}

function itemBytes(item: unknown): Buffer {
  if (typeof item !== 'object' || item === null) return Buffer.from(JSON.stringify(item) ?? 'null')
  let bytes = written.get(item)
  if (bytes === undefined) written.set(item, (bytes = Buffer.from(JSON.stringify(item))))
  return bytes
}
