import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ImagePart, TextPart, UserPart } from '@hermes/contracts/conversation'
import { ApiError } from './api-error.js'

const IMAGE = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/

/** A field of the wrong type. */
export function invalidType(param: string, expected: string, value: JsonValue | undefined): ApiError {
  const article = /^[aeiou]/.test(expected) ? 'an' : 'a'
  const message = `'${param}' has to be ${article} ${expected}, not ${kindOf(value)}.`
  return new ApiError(message, { code: 'invalid_type', param })
}

/** A field that says what this server does not do. */
export function unsupported(param: string, reason: string): ApiError {
  return new ApiError(`'${param}' is not supported here: ${reason}.`, { code: 'unsupported_parameter', param })
}

/** @throws ApiError 400 naming the part */
export function userContent(content: JsonValue | undefined, path: string): readonly UserPart[] {
  const parts = typeof content === 'string' ? [textPart(content)] : partsOf(content, path).map(userPart)
  if (parts.some((part) => part.type !== 'text' || part.text.trim() !== '')) return parts
  throw new ApiError(`'${path}' is empty.`, { code: 'invalid_value', param: path })
}

/** @throws ApiError 400 naming the part */
export function systemText(content: JsonValue | undefined, path: string): string {
  return typeof content === 'string' ? content : partsOf(content, path).map(onlyText).join('')
}

/** @throws ApiError 400 naming the part */
export function assistantText(content: JsonValue | undefined, path: string): string {
  if (content === null || content === undefined) return ''
  return typeof content === 'string' ? content : partsOf(content, path).map(onlyText).join('')
}

interface WirePart {
  readonly type: JsonValue | undefined
  readonly part: JsonObject
  readonly path: string
}

function partsOf(content: JsonValue | undefined, path: string): readonly WirePart[] {
  if (!Array.isArray(content)) throw invalidType(path, 'string or an array of parts', content)
  return (content as readonly JsonValue[]).map((part, index) => {
    const at = `${path}[${index}]`
    if (!isJsonObject(part)) throw invalidType(at, 'object', part)
    return { type: part['type'], part, path: at }
  })
}

function userPart(wire: WirePart): TextPart | ImagePart {
  return wire.type === 'image_url' ? imagePart(wire) : textPart(onlyText(wire))
}

function onlyText({ type, part, path }: WirePart): string {
  const name = type === 'refusal' ? 'refusal' : 'text'
  if (type !== 'text' && type !== 'refusal') {
    const message = `'${path}.type' is ${JSON.stringify(type) ?? 'missing'}; messages may hold text, and those of the user images as image_url.`
    throw new ApiError(message, { code: 'unsupported_content_type', param: `${path}.type` })
  }
  const text = part[name]
  if (typeof text === 'string') return text
  throw invalidType(`${path}.${name}`, 'string', text)
}

function textPart(text: string): TextPart {
  return { type: 'text', text }
}

function imagePart({ part, path }: WirePart): ImagePart {
  const image = part['image_url']
  if (!isJsonObject(image)) throw invalidType(`${path}.image_url`, 'object', image)
  const { url } = image
  const param = `${path}.image_url.url`
  if (typeof url !== 'string') throw invalidType(param, 'string', url)
  const [, mediaType, data] = IMAGE.exec(url) ?? []
  if (mediaType && data) return { type: 'image', mediaType, data }
  const message = `'${param}' has to be a data URL: data:image/png;base64,… (or jpeg, gif, webp). Addresses are not fetched.`
  throw new ApiError(message, { code: 'invalid_image_url', param })
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
