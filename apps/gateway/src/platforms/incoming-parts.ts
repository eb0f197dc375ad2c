// What a person sent, as parts of a message to the model.
import { errorLine } from '@hermes/contracts'
import type { TextPart, TextSource, UserPart } from '@hermes/contracts/conversation'
import type { IncomingAttachment, IncomingMessage, Platform, PlatformUser } from '@hermes/contracts/platform'

const MAX_IMAGE_BYTES = 10 * 1024 * 1024
const MAX_FILE_BYTES = 128 * 1024 * 1024
const WITHIN_MS = 60_000
const MAX_QUOTED_CHARS = 500
const MAX_NAME_CHARS = 240

/** The words of a voice note. Rejects with one line. */
type Hear = (recording: { readonly bytes: Uint8Array; readonly mediaType?: string | undefined }) => Promise<string>

/** Keeps a file that came in; gives its absolute path. */
export type KeepMedia = (bytes: Uint8Array, name: string) => Promise<string>

/** The line that tells in a shared chat who wrote what follows. */
function authorLine({ id, name }: Pick<PlatformUser, 'id' | 'name'>): string {
  return `[${inert(name || id)}]`
}

/** Words of a person in a chat: in a shared one they name who wrote them, and those of others than the owner are marked. */
export function wordsOf(
  words: string,
  { sender, isShared, isOwner }: { sender: Pick<PlatformUser, 'id' | 'name'>; isShared: boolean; isOwner: boolean },
): TextPart {
  const line = authorLine(sender)
  // What is sent once more names its author already.
  const isNamed = isShared && !words.startsWith(`${line}\n`)
  const text = [...(isNamed ? [line] : []), ...(words === '' ? [] : [words])].join('\n')
  return { type: 'text', text, ...(isOwner ? {} : { sources: [sourceOf(sender)] }) }
}

function sourceOf({ id, name }: Pick<PlatformUser, 'id' | 'name'>): TextSource {
  return { type: 'person', name: `a message of ${inert(name || id)}` }
}

/** Never rejects: what could not be brought is said in its place. */
export async function partsOf(
  message: IncomingMessage,
  {
    platform,
    keep,
    hear = null,
    isShared,
    isOwner,
    timeZone = null,
    signal,
  }: {
    platform: Platform
    keep: KeepMedia
    /** `null`, the default: voice notes are files like any others. */
    hear?: Hear | null
    isShared: boolean
    isOwner: boolean
    /** Tells the model when it was sent, by the clocks there; `null`, the default, does not. */
    timeZone?: string | null
    signal: AbortSignal
  },
): Promise<readonly UserPart[]> {
  const { text, sender, replyTo, isForwarded, attachments } = message
  const lines = [
    ...(replyTo && !replyTo.isOwn && replyTo.text ? [`[In reply to: "${inert(replyTo.text, MAX_QUOTED_CHARS)}"]`] : []),
    ...(isForwarded ? ['[Forwarded; somebody else wrote this:]'] : []),
    ...(text === '' ? [] : [text]),
  ]
  const files: UserPart[] = []
  const spoken: UserPart[] = []
  for (const attachment of attachments) {
    const { part, bytes } = await partOf(attachment, { platform, keep, signal })
    files.push(part)
    if (bytes && attachment.isVoice && hear) {
      const { mediaType } = attachment
      spoken.push(await spokenIn({ bytes, mediaType }, { hear, sender, signal }))
    }
  }
  const isOwn = isOwner && !isForwarded && !(replyTo && !replyTo.isOwn && replyTo.text)
  const whose = isOwn ? {} : { sources: [sourceOf(sender)] }
  const words = lines.length > 0 || isShared ? [wordsOf(lines.join('\n'), { sender, isShared, isOwner: isOwn })] : []
  const sent = [...words, ...files.map((file) => ({ ...file, ...whose })), ...spoken]
  return timeZone === null || sent.length === 0 ? sent : [sentAt(message.atMs, timeZone), ...sent]
}

/** For the model alone: nobody is shown it among the words. */
function sentAt(atMs: number, timeZone: string): TextPart {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  return { type: 'text', text: `[Sent ${format.format(atMs)}, ${timeZone}]`, origin: 'reminder' }
}

/** What a program heard may be the words of anybody who was heard there. Rejects only where all of it is to end. */
async function spokenIn(
  recording: Parameters<Hear>[0],
  { hear, sender, signal }: { hear: Hear; sender: Pick<PlatformUser, 'id' | 'name'>; signal: AbortSignal },
): Promise<UserPart> {
  try {
    const words = await hear(recording)
    if (words === '') return { type: 'text', text: '[Nothing was spoken in it.]' }
    const name = `a voice note of ${inert(sender.name || sender.id)}`
    return { type: 'text', text: `[Spoken in it:]\n${words}`, sources: [{ type: 'person', name }] }
  } catch (error) {
    signal.throwIfAborted()
    return { type: 'text', text: `[It could not be made into words: ${errorLine(error)}]` }
  }
}

/** `bytes`: of a file that is kept. */
async function partOf(
  attachment: IncomingAttachment,
  { platform, keep, signal }: { platform: Platform; keep: KeepMedia; signal: AbortSignal },
): Promise<{ readonly part: UserPart; readonly bytes?: Uint8Array }> {
  const name = inert(attachment.name ?? attachment.kind)
  try {
    const maxBytes = attachment.kind === 'image' ? MAX_IMAGE_BYTES : MAX_FILE_BYTES
    const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)])
    const bytes = await platform.download(attachment, { maxBytes, signal: within })
    const mediaType = imageTypeOf(bytes)
    if (attachment.kind === 'image' && mediaType)
      return { part: { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64'), name } }
    return { part: { type: 'text', text: `[Attached ${attachment.kind}: ${await keep(bytes, name)}]` }, bytes }
  } catch (error) {
    signal.throwIfAborted()
    const text = `[An attached ${attachment.kind} (${name}) could not be brought: ${errorLine(error)}]`
    return { part: { type: 'text', text } }
  }
}

/** By content: what a file is called says nothing. */
function imageTypeOf(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('\x89PNG\r\n')) return 'image/png'
  if (head.startsWith('GIF8')) return 'image/gif'
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : null
}

/** One line that looks like nothing but words. */
function inert(text: string, max = MAX_NAME_CHARS): string {
  return text
    .replaceAll(/[\s[\]"]+/g, ' ')
    .trim()
    .slice(0, max)
    .toWellFormed()
}
