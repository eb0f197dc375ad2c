import type { RunInput } from '@hermes/agent-core'
import type { ImagePart } from '@hermes/contracts/conversation'
import type { CommandSession } from '@hermes/contracts/extension'
import type { Io } from '../io.js'

/** Where images are found, and what their programs find. */
type Place = Pick<Io, 'cwd' | 'userHome' | 'env' | 'tempDir'>

/** Images that the person attached or dropped: what was pasted is no file. */
export class Attachments {
  readonly #place: Place
  readonly #images = new Map<string, ImagePart | null>()

  constructor(place: Place) {
    this.#place = place
  }

  /**
   * Takes an image file, or without one what is on the clipboard; how it stands in the line.
   * @throws UsageError where there is none.
   */
  async add(file: string | undefined, run: CommandSession['runOwn'], signal: AbortSignal): Promise<string> {
    const { imagePath, imageReference, pastedImage } = await import('./attach-image.js')
    const [path, image] =
      file === undefined ? await pastedImage(run, this.#place, signal) : [await imagePath(file, this.#place), null]
    this.#images.set(path, image)
    return imageReference(path)
  }

  /** An image file that was dropped on the terminal; its reference is in the line already. */
  dropped(path: string): void {
    this.#images.set(path, null)
  }

  /** A message with the images that its text refers to. @throws UsageError for one that is not there any more. */
  async with(text: string): Promise<RunInput> {
    if (this.#images.size === 0) return text
    const { withAttached } = await import('./attach-image.js')
    const parts = await withAttached(text, this.#images)
    return typeof parts === 'string' ? parts : { content: parts }
  }
}
