import { errorLine } from '@hermes/contracts'
import type { ImagePart, TextPart } from '@hermes/contracts/conversation'
import type { HookEvent } from '@hermes/contracts/extension'
import type { ReferenceOptions } from './options.js'

const MAX_ABOUT_CHARS = 2_000

/** What the person wrote beside the images. */
type About = Pick<ReferenceOptions, 'seesImages' | 'describeImage'> & { readonly about: string }

/** For a model that does not see: what the images show, or that nobody can tell it. Never rejects. */
export async function tellImages(
  context: HookEvent,
  images: readonly ImagePart[],
  options: About,
): Promise<readonly TextPart[]> {
  return Promise.all(
    images.map(async (image, index) => {
      const name = image.name ?? (images.length === 1 ? 'the image' : `image ${index + 1}`)
      try {
        const text = await describeUnseen(context, image, options)
        return text === null
          ? []
          : [{ type: 'text', text: `What ${name} shows:\n${text}`, origin: 'external' } as const]
      } catch (error) {
        const reason = errorLine(error).replace(/\.$/, '')
        context.notice(`${context.model.model} does not see ${name}: ${reason}`)
        return [{ type: 'text', text: `[You cannot see ${name}: ${reason}]`, origin: 'reminder' } as const]
      }
    }),
  ).then((parts) => parts.flat())
}

/** What an image shows, where who answers does not see; else `null`. Rejects with one line when nobody tells it. */
export async function describeUnseen(
  event: HookEvent,
  image: ImagePart,
  { seesImages, describeImage, about }: About,
): Promise<string | null> {
  if (seesImages === undefined || (await seesImages(event))) return null
  if (!describeImage) throw new Error('it does not take images')
  const { text, by } = await describeImage(image, { about: about.slice(0, MAX_ABOUT_CHARS), event })
  return `(told by ${by}, as you do not see images)\n${text}`
}
