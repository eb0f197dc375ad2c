// Pictures that a client names by their address, brought here: the model's endpoint is told no address. Clients send the whole
// conversation each time; what the session has already is known by the address and never fetched again.
import { createHash } from 'node:crypto'
import { errorLine, HermesError } from '@hermes/contracts'
import {
  type ImagePart,
  imageType,
  MAX_IMAGE_BYTES,
  type Message,
  type UserMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { ApiError } from './api-error.js'
import type { NamedImage, PastMessage } from './chat-request.js'

/** More than a request with pictures of its own may hold. */
const MAX_BYTES = 40 * 1024 * 1024
const MAX_IMAGES = 20
const GONE = /^\[A picture that is gone: (\S+)\]$/

/** Gets what is behind an address. */
export type FetchImage = (
  url: string,
  request: { readonly user: string | null; readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<Uint8Array>

interface Who {
  readonly person: string | null
  readonly signal: AbortSignal
}

/** By which address a picture was named, as far as that can be told: one to be brought, one that was, or the words for one that is gone. */
export function addressHash(part: UserPart): string | null {
  if (part.type === 'image') return isNamed(part) ? hashOf(part.url) : (part.addressHash ?? null)
  const url = part.type === 'text' ? GONE.exec(part.text)?.[1] : undefined
  return url === undefined ? null : hashOf(url)
}

/** The pictures of one request. */
export class NamedImages {
  readonly #fetch: FetchImage
  readonly #who: Who
  /** By the hash of their address. A failure is not tried again for this request. */
  readonly #found = new Map<string, Promise<ImagePart>>()

  constructor(fetch: FetchImage, who: Who) {
    this.#fetch = fetch
    this.#who = who
  }

  /** Takes pictures from what a session of the same person has. */
  remember(messages: readonly Message[]): void {
    for (const message of messages)
      for (const part of message.role === 'user' ? message.content : [])
        if (part.type === 'image' && part.addressHash !== undefined)
          this.#found.set(part.addressHash, Promise.resolve(part))
  }

  /**
   * What is to be said, with its pictures. What was said before and is gone by now is named in words.
   * @throws ApiError 400 `invalid_image_url` for what is new: why the policy or the server does not give it, or that it is no picture
   */
  async bring<Of extends { readonly content: readonly UserPart[]; readonly history: readonly PastMessage[] }>(
    input: Of,
  ): Promise<Of> {
    const past = input.history.filter((message): message is UserMessage => message.role === 'user')
    const named = [...input.content, ...past.flatMap(({ content }) => content)].filter(isNamed)
    if (named.length === 0) return input
    if (new Set(named.map(({ url }) => url)).size > MAX_IMAGES)
      throw refused(`More than ${MAX_IMAGES} pictures are named by their address; send some as data URLs.`)
    const images = new Set(named.map(({ url }) => this.#image(url)))
    const settled = await Promise.allSettled(images)
    const bytes = settled.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value.data.length : 0), 0)
    if (bytes > MAX_BYTES) throw refused('The pictures named by their address are too large together.')
    const content = await this.#withImages(input.content, null)
    const history: PastMessage[] = []
    for (const message of input.history)
      history.push(
        message.role === 'user' ? { ...message, content: await this.#withImages(message.content, gone) } : message,
      )
    return { ...input, content, history }
  }

  /** The parts with what was brought; `instead` stands for what was not, which is an error else. */
  async #withImages(
    parts: readonly UserPart[],
    instead: ((image: NamedImage) => UserPart) | null,
  ): Promise<readonly UserPart[]> {
    const content: UserPart[] = []
    for (const part of parts) {
      if (!isNamed(part)) content.push(part)
      else {
        const image = await this.#image(part.url).catch((error: unknown) => {
          if (!instead || this.#who.signal.aborted) throw error
          return null
        })
        const { url, sources = [] } = part
        const { mediaType, data } = image ?? part
        const web = { type: 'web', name: new URL(url).hostname } as const
        const brought = {
          type: 'image',
          mediaType,
          data,
          addressHash: hashOf(url),
          sources: [...sources, web],
        } as const
        content.push(image === null ? instead!(part) : brought)
      }
    }
    return content
  }

  #image(url: string): Promise<ImagePart> {
    const key = hashOf(url)
    const image = this.#found.get(key) ?? this.#fetched(url)
    this.#found.set(key, image)
    return image
  }

  async #fetched(url: string): Promise<ImagePart> {
    const { person, signal } = this.#who
    try {
      const bytes = await this.#fetch(url, { user: person, maxBytes: MAX_IMAGE_BYTES, signal })
      const mediaType = imageType(bytes)
      if (mediaType === null) throw refused(`${url} is no PNG, JPEG, GIF or WebP picture.`)
      return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') }
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof ApiError || !HermesError.isInstance(error) ? error : refused(errorLine(error))
    }
  }
}

function gone({ url }: NamedImage): UserPart {
  return { type: 'text', text: `[A picture that is gone: ${url}]` }
}

function isNamed(part: UserPart): part is NamedImage {
  return part.type === 'image' && 'url' in part
}

function hashOf(url: string): string {
  return createHash('sha256').update(url).digest('hex')
}

function refused(message: string): ApiError {
  return new ApiError(message, { code: 'invalid_image_url', param: 'messages' })
}
