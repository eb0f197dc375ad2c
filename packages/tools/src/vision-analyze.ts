import { type ImagePart, imageType, MAX_IMAGE_BYTES } from '@hermes/contracts/conversation'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { permitRead, readAction } from './files/file-access.js'
import { missingFile } from './files/similar-names.js'
import { failure, plural } from './result-text.js'
import type { ToolSettings } from './settings.js'
import { fileSources } from './terminal/outside.js'

const parameters = {
  type: 'object',
  properties: {
    image_url: { type: 'string', description: 'Path of a file, or an http(s) address' },
    question: { type: 'string' },
  },
  required: ['image_url', 'question'],
} as const

type Args = FromSchema<typeof parameters>

const isAddress = (text: string) => /^https?:\/\//i.test(text)

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : 'the web')

/** Looks at an image for a question: a model that sees gets the image, for another one `describeImage` answers. */
export const createVisionAnalyzeTool = (settings: ToolSettings) =>
  defineTool<Args>({
    name: 'vision_analyze',
    toolset: 'vision',
    description: 'Look at an image in a file or at an address (PNG, JPEG, GIF, WebP) and answer a question about it.',
    parameters,
    effect: 'read',
    external: true,
    sources: ({ image_url }, context) =>
      isAddress(image_url) ? [{ type: 'web', name: hostOf(image_url) }] : fileSources(image_url, context),
    icon: '👁',
    actions: ({ image_url }, context) => (isAddress(image_url) ? [] : [readAction(context, image_url)]),
    summarize: ({ image_url }) => `look at ${image_url}`,
    execute: (args, context) => look(args, context, settings),
  })

async function look(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const { image_url: place, question } = args
  const bytes = isAddress(place) ? await fetched(place, context, settings) : await fromFile(place, context)
  if (typeof bytes === 'string') return failure(bytes)
  return showBytes(bytes, { place, question, context, settings })
}

/** What a call gives for an image: the image to a model that sees, else what it shows. */
export async function showBytes(
  bytes: Uint8Array,
  about: {
    readonly place: string
    readonly question: string
    readonly context: Pick<ToolContext, 'sessionId' | 'signal'>
    readonly settings: Pick<ToolSettings, 'seesImages' | 'describeImage'>
  },
): Promise<ToolResult> {
  const { place, question, context, settings } = about
  const { sessionId, signal } = context
  const mediaType = imageType(bytes)
  if (mediaType === null) return failure(`${place} is no PNG, JPEG, GIF or WebP image.`)
  const image: ImagePart = {
    type: 'image',
    mediaType,
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
    name: place.slice(place.lastIndexOf('/') + 1),
  }
  const data = { path: place, media_type: mediaType, file_size: bytes.length }
  const kind = mediaType.slice('image/'.length).toUpperCase()
  const what = `${place} is a ${kind} image, ${plural(bytes.length, 'byte')}`
  if (await settings.seesImages(sessionId)) return { text: `${what}; here it is:`, data, parts: [image] }
  if (!settings.describeImage) return failure(`${what}. You do not see images, and there is no model that does.`)
  const { text, by } = await settings.describeImage(image, { about: question, sessionId, signal })
  return { text: `${what}. You do not see it; ${by} tells what it shows:\n${text}`, data: { ...data, told_by: by } }
}

/** The bytes, or why there are none. */
async function fromFile(path: string, context: ToolContext): Promise<Uint8Array | string> {
  const { environment } = context
  const real = await permitRead(context, path)
  const stat = await environment.stat(real)
  if (!stat) return missingFile(environment, environment.resolve(path))
  if (stat.type !== 'file') return `${path} is no regular file.`
  if (stat.sizeBytes > MAX_IMAGE_BYTES) return tooLarge(path)
  const bytes = await environment.read(real, { offset: 0, length: MAX_IMAGE_BYTES, noLinks: true })
  return bytes ?? `${path} disappeared while it was read.`
}

async function fetched(url: string, context: ToolContext, { fetchBytes }: ToolSettings): Promise<Uint8Array | string> {
  if (!fetchBytes) return `Addresses are not read here; get ${url} with another tool and name the file.`
  const { status, body, isCut } = await fetchBytes(url, {
    permit: (action) => context.permit(action),
    signal: context.signal,
    maxBytes: MAX_IMAGE_BYTES,
  })
  if (status < 200 || status > 299) return `The server answered ${status} for ${url}.`
  return isCut ? tooLarge(url) : body
}

const tooLarge = (place: string) =>
  `${place} has more than ${plural(MAX_IMAGE_BYTES, 'byte')}; make a smaller copy with a command in terminal, and look at that.`
