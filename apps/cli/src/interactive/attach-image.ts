import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { type ImagePart, imageType, type UserPart } from '@hermes/contracts/conversation'
import type { CommandSession } from '@hermes/contracts/extension'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { readImages } from '../read-images.js'

/** Where programs find the screen whose clipboard they read. */
const SCREEN = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR'] as const

/** The path of an image file that the person named. @throws UsageError for what is none. */
export async function imagePath(file: string, at: Pick<Io, 'cwd' | 'userHome'>): Promise<string> {
  const path = resolve(at.cwd, file.replace(/^~(?=\/)/, at.userHome).replace(/^(['"])(.*)\1$/, '$2'))
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) throw new UsageError(`There is no file ${path}.`)
  if (imageType(await readFile(path)) === null) throw new UsageError(`${path} is no PNG, JPEG, GIF or WebP image.`)
  return path
}

/** How an attached image stands in the line: as it could be typed, so that it can be looked at and taken out again. */
export function imageReference(path: string): string {
  return `@file:"${path}" `
}

/** Images that the person attached, by the path in their reference: the image itself, or `null` for a file that is read when it is sent. */
type Attached = ReadonlyMap<string, ImagePart | null>

/**
 * A message with the images that the person attached to it themselves, wherever they are; other references are left to who reads the message.
 * @throws UsageError for an image that is not there any more.
 */
export async function withAttached(text: string, attached: Attached): Promise<string | readonly UserPart[]> {
  const paths = [...text.matchAll(ATTACHED)].flatMap(([, path = '']) => (attached.has(path) ? [path] : []))
  if (paths.length === 0) return text
  const words = text.replace(ATTACHED, (whole, path: string) => (attached.has(path) ? basename(path) : whole))
  const images = await Promise.all(paths.map(async (path) => attached.get(path) ?? (await readImages([path], '/'))))
  return [{ type: 'text', text: words }, ...images.flat()]
}

const ATTACHED = /@file:"([^"\n]+)"/g

/**
 * The image on the clipboard, with the path that its reference has. It goes through a folder that only the person can read and that is gone
 * afterwards. The programs that read it run where commands of the person's own do.
 * @throws UsageError where no image is there, nothing can read it, or it is too large.
 */
export async function pastedImage(
  run: CommandSession['runOwn'],
  io: Pick<Io, 'env' | 'tempDir'>,
  signal: AbortSignal,
): Promise<readonly [path: string, image: ImagePart]> {
  const folder = await mkdtemp(join(io.tempDir, 'hermes-paste-'))
  try {
    const file = join(folder, 'image.png')
    await run(readClipboard(file, io.env), { signal })
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    )
    if (size === 0)
      throw new UsageError(
        'There is no image on the clipboard that can be read here. It takes wl-paste, xclip or pngpaste on the machine with the clipboard; over ssh use /image FILE.',
      )
    const [image] = await readImages([file], '/')
    return [file, image!]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The first program that is there and finds an image. */
function readClipboard(file: string, env: Io['env']): string {
  const known = SCREEN.flatMap((name) => (env[name] ? [`export ${name}=${quoted(env[name])}`] : []))
  const to = quoted(file)
  const ways = [
    `wl-paste --no-newline --type image/png > ${to}`,
    `xclip -selection clipboard -t image/png -o > ${to}`,
    `pngpaste ${to}`,
    `osascript -e ${quoted(`set f to open for access POSIX file "${file}" with write permission`)} -e 'write (the clipboard as «class PNGf») to f' -e 'close access f'`,
  ]
  return [...known, ways.map((way) => `{ ${way} && test -s ${to}; } 2>/dev/null`).join(' || ')].join('; ')
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
