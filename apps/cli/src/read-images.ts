import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type ImagePart, imageType, MAX_IMAGE_BYTES } from '@hermes/contracts/conversation'
import { UsageError } from './errors.js'

/** The images that `--image` names, from `cwd`. @throws UsageError for what is none. */
export function readImages(files: readonly string[], cwd: string): Promise<readonly ImagePart[]> {
  return Promise.all(files.map((file) => readImage(file, resolve(cwd, file))))
}

async function readImage(file: string, path: string): Promise<ImagePart> {
  const wrong = (reason: string) => new UsageError(`--image ${file}: ${reason}`)
  const found = await stat(path).catch(() => null)
  if (!found) throw wrong('there is no such file.')
  if (!found.isFile()) throw wrong('it is no file.')
  if (found.size > MAX_IMAGE_BYTES)
    throw wrong(`it has ${found.size} bytes, more than ${MAX_IMAGE_BYTES}. Make it smaller.`)
  const bytes = await readFile(path).catch(() => {
    throw wrong('it cannot be read.')
  })
  const mediaType = imageType(bytes)
  if (mediaType === null) throw wrong('it is no PNG, JPEG, GIF or WebP image.')
  return { type: 'image', mediaType, data: bytes.toString('base64'), name: basename(path) }
}
