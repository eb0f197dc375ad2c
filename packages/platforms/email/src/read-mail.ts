// A mail as an event: who wrote it, in which thread, and what is new in it.
import { createHash } from 'node:crypto'
import type { IncomingAttachment, IncomingMessage } from '@hermes/contracts/platform'
import PostalMime, { type Attachment, addressParser, type Email } from 'postal-mime'
import { authenticationResults, isDmarcFailure, provesDomain } from './authentication-results.js'
import { isPassedOn, newWords, textOfHtml } from './visible-text.js'

const MAX_ID_CHARS = 250
const MAX_SUBJECT_CHARS = 200
const MACHINE =
  /^(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster|bounces?|notifications?|listserv|majordomo)(?:[+@-]|$)/i
const ADDRESS = /^[^\s@<>,;:"\\]+@[^\s@<>,;:"\\]+$/

/** A mail that was fetched. */
export interface FetchedMail {
  readonly source: Uint8Array
  /** Not all of it was fetched. */
  readonly isCut: boolean
  /** What its attachments are found by. */
  readonly ref: string
  readonly atMs: number
}

/** Whom mail is read for. */
interface ReadingOptions {
  readonly account: string
  /** The server whose word on senders counts; `null` where any sender is taken at their word. */
  readonly authservId: string | null
}

/** A mail that was read: what is heard, or why nobody hears it. */
export type ReadMail =
  | {
      readonly type: 'message'
      readonly message: IncomingMessage
      readonly subject: string
      readonly files: readonly Attachment[]
    }
  | { readonly type: 'refused'; readonly why: string }

export async function readMail({ source, isCut, ref, atMs }: FetchedMail, options: ReadingOptions): Promise<ReadMail> {
  const mail = await PostalMime.parse(source).catch(() => null)
  if (!mail) return refused('it cannot be read')
  const from = senderOf(mail)
  if (!from) return refused('it does not say who wrote it')
  const why = whyMachine(mail, from.id, options.account) ?? whyUnproven(mail, from.id, options.authservId)
  if (why !== null) return refused(why)
  const { account } = options
  const subject = (mail.subject ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUBJECT_CHARS).toWellFormed()
  const whole = mail.text ?? (mail.html === undefined ? '' : textOfHtml(mail.html))
  const isForwarded = isPassedOn(subject, whole)
  const body = isForwarded ? whole.trim() : newWords(whole)
  const own = idOf(mail.messageId ?? '') ?? `<${digest([from.id, subject, whole])}@unnamed>`
  const answered = idOf(mail.inReplyTo ?? '')
  const references = [...(mail.references ?? '').slice(0, 20_000).matchAll(/<[^<>\s]+>/g)].map(([id]) => id)
  const threadId = shortId(references[0] ?? answered ?? own)
  const text = [
    ...headOf({ subject, body, isAnswer: answered !== null }),
    body,
    ...(isCut ? ['[This mail is longer than what is read of one.]'] : []),
  ]
  const message: IncomingMessage = {
    type: 'message',
    id: `${account}:${digest([own, from.id, subject, whole])}`,
    chat: { id: from.id, type: 'dm', threadId, ...(subject === '' ? {} : { name: subject }) },
    sender: from,
    messageId: own,
    text: text.join('\n\n').trim(),
    attachments: mail.attachments.map((file, index) => attachmentOf(file, `${ref}:${index}`)),
    isToBot: true,
    ...(isForwarded ? { isForwarded: true } : {}),
    ...(answered === null
      ? {}
      : { replyTo: { messageId: answered, text: '', isOwn: answered.startsWith('<hermes.') } }),
    atMs,
  }
  return { type: 'message', message, subject, files: mail.attachments }
}

/** A subject is part of what is said where it begins a thread; a command stands alone. */
function headOf({
  subject,
  body,
  isAnswer,
}: {
  readonly subject: string
  readonly body: string
  readonly isAnswer: boolean
}): readonly string[] {
  if (isAnswer || subject === '' || body.startsWith('/')) return []
  return [`Subject: ${subject}`]
}

/** One sender, with an address that mail can go to. */
function senderOf(mail: Email): IncomingMessage['sender'] | null {
  const named = mail.headers
    .filter(({ key }) => key === 'from')
    .flatMap(({ value }) => addressParser(value.slice(0, 2_000), { flatten: true }))
  const address = mail.from?.address?.toLowerCase() ?? ''
  return named.length === 1 && ADDRESS.test(address) ? { id: address, name: mail.from?.name ?? '' } : null
}

/** What programs and lists send is answered by nobody: two programs would never end. */
function whyMachine(mail: Email, from: string, account: string): string | null {
  const value = (name: string) =>
    mail.headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase()
  if (from === account.toLowerCase()) return 'it is from this account'
  if (MACHINE.test(from)) return 'it is from a program'
  if ((value('auto-submitted') ?? 'no') !== 'no') return 'a program sent it'
  if (/^(?:bulk|junk|list|auto_reply)$/.test(value('precedence') ?? '')) return 'it is bulk mail'
  if (mail.headers.some(({ key }) => key.startsWith('list-'))) return 'it is from a mailing list'
  if (['x-autoreply', 'x-autorespond', 'x-loop', 'feedback-id'].some((name) => value(name) !== undefined))
    return 'a program sent it'
  if (/^multipart\/report|^message\/(?:delivery-status|disposition-notification)/.test(value('content-type') ?? ''))
    return 'it is a report'
  return value('return-path') === '<>' ? 'it is a report' : null
}

/** A sender can be made up. Where the receiving server checks them, its word counts. */
function whyUnproven(mail: Email, from: string, authservId: string | null): string | null {
  if (authservId === null) return null
  const domain = from.slice(from.lastIndexOf('@') + 1)
  const results = mail.headers
    .filter(({ key }) => key === 'authentication-results')
    .map(({ value }) => authenticationResults(value))
    .filter((one) => one !== null && one.server === authservId.toLowerCase())
    .flatMap((one) => one!.results)
  if (results.some(isDmarcFailure)) return 'its sender is made up'
  return results.some((one) => provesDomain(one, domain)) ? null : 'its sender is not proven'
}

function attachmentOf({ filename, mimeType, content }: Attachment, ref: string): IncomingAttachment {
  const type = mimeType.split('/', 1)[0]
  const kind = type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
  const size = typeof content === 'string' ? content.length : content.byteLength
  return { kind, ref, mediaType: mimeType, size, ...(filename === null ? {} : { name: filename }) }
}

/** The first id in a header; `null` where there is none. */
function idOf(header: string): string | null {
  const id = /<[^<>\s]+>/.exec(header.slice(0, 2_000))?.[0] ?? null
  return id === null ? null : shortId(id)
}

/** Ids are names of conversations, and go into headers of answers. */
function shortId(id: string): string {
  return id.length <= MAX_ID_CHARS ? id : `<${digest([id])}@long>`
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function refused(why: string): ReadMail {
  return { type: 'refused', why }
}
