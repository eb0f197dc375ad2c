// Pictures that a client names by their address, brought here: the model's endpoint is told no address.
import { errorLine, HermesError } from '@hermes/contracts'
import {
  type ImagePart,
  imageType,
  MAX_IMAGE_BYTES,
  type UserMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { ApiError } from './api-error.js'
import type { ChatRequest, NamedImage, PastMessage } from './chat-request.js'

/** More than a request with pictures of its own may hold. */
const MAX_KEPT_BYTES = 40 * 1024 * 1024
const MAX_IMAGES = 20

/** Gets what is behind an address. */
type FetchImage = (
  url: string,
  request: { readonly user: string | null; readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<Uint8Array>

interface Who {
  readonly person: string | null
  readonly signal: AbortSignal
}

/** Brings pictures, and keeps them in this process: clients send the whole conversation each time. */
export class NamedImages {
  readonly #fetch: FetchImage
  readonly #kept = new Map<string, ImagePart>()
  #keptBytes = 0

  constructor(fetch: FetchImage) {
    this.#fetch = fetch
  }

  /**
   * The request with its pictures. What was said before and is gone by now is named in words.
   * @throws ApiError 400 `invalid_image_url` for what is new: why the policy or the server does not give it, or that it is no picture
   */
  async bring<Of extends Pick<ChatRequest, 'message' | 'history' | 'historyWithAnswers'>>(
    request: Of,
    who: Who,
  ): Promise<Of> {
    const all = [request.message, ...request.history]
      .flatMap((one) => (one?.role === 'user' ? one.content : []))
      .filter(isNamed)
    if (all.length === 0) return request
    if (new Set(all.map(({ url }) => url)).size > MAX_IMAGES)
      throw refused(`More than ${MAX_IMAGES} pictures are named by their address; send some as data URLs.`)
    // Side by side, and each once: a failure is not tried again for this request.
    const found = new Map<string, Promise<ImagePart>>()
    for (const { url } of all) {
      if (!found.has(url)) found.set(url, this.#image(url, who))
    }
    const settled = await Promise.allSettled(found.values())
    const bytes = settled.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value.data.length : 0), 0)
    if (bytes > MAX_KEPT_BYTES) throw refused('The pictures named by their address are too large together.')
    const gone = (image: NamedImage): UserPart => ({ type: 'text', text: `[A picture that is gone: ${image.url}]` })
    const past = async (messages: readonly PastMessage[]): Promise<readonly PastMessage[]> => {
      const brought: PastMessage[] = []
      for (const message of messages)
        brought.push(message.role === 'user' ? await withImages(message, { found, who }, gone) : message)
      return brought
    }
    const message = request.message && (await withImages(request.message, { found, who }))
    const [history, historyWithAnswers] = [await past(request.history), await past(request.historyWithAnswers)]
    return { ...request, message, history, historyWithAnswers }
  }

  async #image(url: string, { person, signal }: Who): Promise<ImagePart> {
    const key = JSON.stringify([person, url])
    const image = this.#kept.get(key) ?? (await this.#fetched(url, { person, signal }))
    // The one that was asked for last goes last.
    this.#forget(key)
    this.#kept.set(key, image)
    this.#keptBytes += image.data.length
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break
      this.#forget(oldest)
    }
    return image
  }

  #forget(key: string): void {
    this.#keptBytes -= this.#kept.get(key)?.data.length ?? 0
    this.#kept.delete(key)
  }

  async #fetched(url: string, { person, signal }: Who): Promise<ImagePart> {
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

/** The message with what was brought; `instead` stands for what was not, which is an error else. */
async function withImages(
  message: UserMessage,
  { found, who }: { readonly found: ReadonlyMap<string, Promise<ImagePart>>; readonly who: Who },
  instead?: (image: NamedImage) => UserPart,
): Promise<UserMessage> {
  if (!message.content.some(isNamed)) return message
  const content: UserPart[] = []
  for (const part of message.content) {
    if (!isNamed(part)) content.push(part)
    else {
      const image = await found.get(part.url)!.catch((error: unknown) => {
        if (!instead || who.signal.aborted) throw error
        return null
      })
      const { url, sources = [] } = part
      const web = { type: 'web', name: new URL(url).hostname } as const
      content.push(image === null ? instead!(part) : { ...image, sources: [...sources, web] })
    }
  }
  return { ...message, content }
}

function isNamed(part: UserPart): part is NamedImage {
  return part.type === 'image' && 'url' in part
}

function refused(message: string): ApiError {
  return new ApiError(message, { code: 'invalid_image_url', param: 'messages' })
}
