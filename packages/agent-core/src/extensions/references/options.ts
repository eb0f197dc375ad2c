import type { AudioPart, FilePart, ImagePart } from '@hermes/contracts/conversation'
import type { FileStat } from '@hermes/contracts/environment'
import type { HookEvent } from '@hermes/contracts/extension'
import type { Action, Permit } from '@hermes/contracts/policy'

/** What references of a person's message may reach beyond files and git. */
export interface ReferenceOptions {
  /** The model's window in tokens: half of it is the most that is attached, a quarter is worth a warning. Default 128,000. */
  readonly windowTokens?: (event: HookEvent) => number | Promise<number>
  /** Reads a page as text, asking `permit` before each request. Default: `@url:` is refused. */
  readonly readPage?: (
    url: string,
    options: { readonly permit: (action: Action) => Promise<Permit>; readonly signal: AbortSignal },
  ) => Promise<string>
  /** Whether who answers sees images. Default: yes. */
  readonly seesImages?: (event: HookEvent) => boolean | Promise<boolean>
  /** What an image shows, told by a model that sees, with a view to what the person wrote. Rejects with one line. Default: nobody tells it. */
  readonly describeImage?: (
    image: ImagePart,
    options: { readonly about: string; readonly event: HookEvent },
  ) => Promise<{ readonly text: string; readonly by: string }>
  /** Whether who answers takes a recording or a file; one that it does not take goes out as a line of text. Default: yes. */
  readonly takes?: (
    event: HookEvent,
    part: Pick<AudioPart | FilePart, 'type' | 'mediaType'>,
  ) => boolean | Promise<boolean>
  /** The text of a file that is a document, such as a PDF; `null` when it is none. Rejects with one line. Default: documents are refused. */
  readonly readDocument?: (
    file: { readonly real: string; readonly stat: FileStat },
    event: HookEvent,
  ) => Promise<string | null>
  /** What was said in another session of whom `event` is for. Rejects with one line. Default: `@session:` is refused. */
  readonly readSession?: (name: string, event: HookEvent) => Promise<string>
}
