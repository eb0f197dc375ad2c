// Email as a chat platform: a person is a chat, a thread of mails a conversation.
import { randomUUID } from 'node:crypto'
import { type Clock, errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import type {
  IncomingAttachment,
  Platform,
  PlatformAbilities,
  PlatformFile,
  PlatformListener,
  PlatformMessage,
  PlatformState,
  PlatformTarget,
} from '@hermes/contracts/platform'
import { failureOf, platformError, Reconnection } from '@hermes/platform'
import type { Attachment } from 'postal-mime'
import { toInboxError } from './email-error.js'
import { type Inbox, imapClient, type Keeper, type MailServer, openInbox } from './inbox.js'
import { checkOutbox, type OutgoingMail, sendMail } from './outbox.js'
import { type FetchedMail, type ReadMail, readMail } from './read-mail.js'

const ABILITIES: PlatformAbilities = {
  maxLength: { unit: 'utf16', limit: 50_000 },
  replies: true,
  files: { maxBytes: 20 * 1024 * 1024 },
}
const LOOK_EVERY_MS = 45_000
const FIRST_WAIT_MS = 1_000
const MAX_RETRY_MS = 30_000
/** A mail that was refused so often while others were taken is given up. */
const MAX_REFUSED = 10
/** One that could not be read so often, for so long, is given up: a server may have trouble for a while. */
const MAX_UNREADABLE = 10
const UNREADABLE_FOR_MS = 3_600_000
const MAX_SUBJECTS = 1_000
const FALLBACK_SUBJECT = 'Message from Hermes'
const ADDRESS = /^[^\s@<>,;:"\\]+@[^\s@<>,;:"\\]+$/

/** A mail that could not be read. */
interface Unreadable {
  readonly times: number
  /** Since when. Unix milliseconds. */
  readonly sinceMs: number
  /** Counts as taken from then on. */
  readonly isDropped: boolean
}

/** Options of {@link createEmail}. */
export interface EmailOptions {
  readonly address: string
  readonly password: string
  /** Port 993 is encrypted from the start; any other has to offer STARTTLS, except on this machine. */
  readonly imap: MailServer
  /** Port 465 is encrypted from the start; any other has to offer STARTTLS, except on this machine. */
  readonly smtp: MailServer
  /** The name under which the receiving server writes `Authentication-Results`; then senders that it does not vouch for are not heard. */
  readonly authservId?: string | undefined
  /** Keeps how far mail was heard. */
  readonly keeper: Keeper
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Email as a platform.
 * @throws HermesError `platform.bad_options`: no address, password or server.
 */
export function createEmail(options: EmailOptions): Platform {
  const { address, password, imap, smtp } = options
  if (!ADDRESS.test(address))
    throw badOptions(`"${address}" is no email address. Put EMAIL_ADDRESS into .env of the home.`)
  if (password === '')
    throw badOptions('The password of the email account is missing. Put EMAIL_PASSWORD into .env of the home.')
  for (const [name, { host }] of [
    ['IMAP', imap],
    ['SMTP', smtp],
  ] as const)
    if (host === '')
      throw badOptions(`Which ${name} server has the mail of ${address}? Put EMAIL_${name}_HOST into .env of the home.`)
  return new Email(options)
}

/** What became of a mail. `waits`: it was not offered, as an earlier one of its sender was refused. */
type Outcome =
  | { readonly type: 'taken'; readonly atMs: number }
  | { readonly type: 'refused' | 'waits'; readonly sender: string }
  | { readonly type: 'unreadable'; readonly error: unknown }

interface MailContent {
  readonly text: string
  readonly replyTo?: string | undefined
  readonly subject?: string | undefined
  readonly threadId?: string | undefined
  readonly files?: readonly PlatformFile[]
}

class Email implements Platform {
  readonly name = 'email'
  readonly abilities = ABILITIES
  readonly #options: EmailOptions
  readonly #stopped = new AbortController()
  readonly #sinceMs: number
  /** What threads are about, by their first mail. */
  readonly #subjects = new Map<string, string>()
  /** How often mails could not be read, by their refs: also over connections that broke off meanwhile. */
  readonly #unreadable = new Map<string, Unreadable>()
  #files: { readonly ref: string; readonly files: readonly Attachment[] } | null = null
  #inbox: Inbox | null = null
  #state: PlatformState = { type: 'connecting' }
  #listener: PlatformListener | null = null
  #heardAtMs: number | null = null
  #hearing: Promise<void> = Promise.resolve()

  constructor(options: EmailOptions) {
    this.#options = options
    this.#sinceMs = options.clock.now()
  }

  get state(): PlatformState {
    return this.#state
  }

  get heardAtMs(): number | null {
    return this.#heardAtMs
  }

  connect(listener: PlatformListener): void {
    this.#listener = listener
    this.#hearing = this.#hear()
  }

  /** Until it is closed, or the password is good for nothing. Never rejects. */
  async #hear(): Promise<void> {
    const { imap, address, password, keeper, clock } = this.#options
    const { signal } = this.#stopped
    const reconnection = new Reconnection(clock)
    while (!signal.aborted) {
      try {
        reconnection.tries()
        this.#set({ type: 'connecting', failures: reconnection.failures })
        this.#inbox = await openInbox({
          server: imap,
          address,
          password,
          keeper,
          sinceMs: this.#sinceMs,
          clock,
          signal,
        })
        this.#set({ type: 'connected', account: address })
        await this.#listen(this.#inbox, () => reconnection.delivers())
      } catch (error) {
        if (signal.aborted) return
        const { failure, retryAfterMs } = failureOf(toInboxError(error))
        const line = errorLine(error)
        if (failure === 'unauthorized') return this.#set({ type: 'failed', error: line })
        const waitMs = reconnection.failed(line, { retryAfterMs })
        const { failures } = reconnection
        this.#set({ type: 'waiting', error: line, retryAtMs: clock.now() + waitMs, failures })
        await this.#sleep(waitMs)
      } finally {
        this.#inbox?.close()
        this.#inbox = null
      }
    }
  }

  /** `well`: all mail could be read. */
  async #listen(inbox: Inbox, well: () => void): Promise<void> {
    const { signal } = this.#stopped
    const refused = new Map<number, number>()
    const taken = new Map<number, number>()
    for (let failures = 0; !signal.aborted; ) {
      const waiting = await inbox.waiting()
      this.#heardAtMs = this.#options.clock.now()
      const isAllTaken = await this.#takeAll(inbox, waiting, { taken, refused })
      failures = isAllTaken ? 0 : failures + 1
      const retryMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), MAX_RETRY_MS)
      if (isAllTaken) {
        well()
        for (const seen of [taken, refused, this.#unreadable]) seen.clear()
        await inbox.news(LOOK_EVERY_MS, signal)
      } else await this.#sleep(retryMs)
    }
  }

  /** What is refused is fetched again, and holds up later mails of its sender alone. Whether all were taken. */
  async #takeAll(
    inbox: Inbox,
    uids: readonly number[],
    { taken, refused }: { readonly taken: Map<number, number>; readonly refused: Map<number, number> },
  ): Promise<boolean> {
    const waiting = new Set<string>()
    const failed: number[] = []
    const unreadable: number[] = []
    let hasTaken = false
    for (const uid of uids) {
      this.#stopped.signal.throwIfAborted()
      if (taken.has(uid)) continue
      const outcome = await this.#take(inbox, uid, waiting)
      if (outcome.type === 'taken') {
        taken.set(uid, outcome.atMs)
        hasTaken = true
      } else if (outcome.type === 'unreadable') {
        unreadable.push(uid)
        if (!inbox.isOpen()) {
          // It may be this mail that breaks the connection off.
          this.#countUnreadable(inbox, [uid], taken)
          await this.#move(inbox, uids, taken)
          throw outcome.error
        }
      } else {
        waiting.add(outcome.sender)
        if (outcome.type === 'refused') failed.push(uid)
      }
      await this.#move(inbox, uids, taken)
    }
    for (const uid of hasTaken ? failed : []) {
      refused.set(uid, (refused.get(uid) ?? 0) + 1)
      if (refused.get(uid)! < MAX_REFUSED) continue
      taken.set(uid, 0)
      this.#options.logger.error('A mail was refused time after time and is given up.', { uid })
    }
    // Where none can be read, it is the server rather than each of them.
    this.#countUnreadable(inbox, hasTaken || failed.length > 0 ? unreadable : unreadable.slice(0, 1), taken)
    await this.#move(inbox, uids, taken)
    return uids.every((uid) => taken.has(uid))
  }

  /** What could not be read so often is given up. */
  #countUnreadable(inbox: Inbox, uids: readonly number[], taken: Map<number, number>): void {
    for (const uid of uids) {
      const nowMs = this.#options.clock.now()
      const { times, sinceMs } = this.#unreadable.get(inbox.refOf(uid)) ?? { times: 0, sinceMs: nowMs }
      const isDropped = times + 1 >= MAX_UNREADABLE && nowMs - sinceMs >= UNREADABLE_FOR_MS
      this.#unreadable.set(inbox.refOf(uid), { times: times + 1, sinceMs, isDropped })
      if (!isDropped) continue
      taken.set(uid, 0)
      this.#options.logger.warn('A mail could not be read time after time and is given up.', { uid })
    }
  }

  /** The place up to which all is taken. */
  async #move(inbox: Inbox, uids: readonly number[], taken: ReadonlyMap<number, number>): Promise<void> {
    const left = uids.findIndex((uid) => !taken.has(uid))
    const last = left < 0 ? uids.at(-1) : uids[left - 1]
    if (last !== undefined) await inbox.taken(last, taken.get(last) ?? 0)
  }

  async #take(inbox: Inbox, uid: number, waiting: ReadonlySet<string>): Promise<Outcome> {
    // Given up in an earlier connection, behind one that still waits.
    if (this.#unreadable.get(inbox.refOf(uid))?.isDropped) return { type: 'taken', atMs: 0 }
    // While an earlier one was heard: nothing is known of this one.
    if (!inbox.isOpen()) throw platformError('unreachable', 'The connection to the mailbox broke off.')
    const { address, authservId = null, logger } = this.#options
    let mail: FetchedMail | null
    let read: ReadMail
    try {
      mail = await inbox.fetch(uid)
      if (!mail) return { type: 'taken', atMs: 0 }
      read = await readMail(mail, { account: address, authservId })
    } catch (error) {
      // Neither is about this mail.
      if (this.#stopped.signal.aborted || failureOf(error).failure === 'rate_limited') throw error
      return { type: 'unreadable', error }
    }
    this.#unreadable.delete(inbox.refOf(uid))
    const { ref, atMs } = mail
    if (read.type === 'refused') {
      logger.info('A mail is not answered.', { uid, why: read.why })
      return { type: 'taken', atMs }
    }
    const sender = read.message.sender.id
    if (waiting.has(sender)) return { type: 'waits', sender }
    return (await this.#tell(read, ref)) ? { type: 'taken', atMs } : { type: 'refused', sender }
  }

  /** `false` when the listener has not taken it. */
  async #tell(
    { message, subject, files }: Extract<ReadMail, { readonly type: 'message' }>,
    ref: string,
  ): Promise<boolean> {
    try {
      this.#keepSubject(message.chat.threadId ?? message.messageId, subject)
      this.#files = { ref, files }
      await this.#listener!.hear(message)
      return true
    } catch (error) {
      if (this.#stopped.signal.aborted || isAbort(error)) throw error
      this.#options.logger.warn('A mail could not be kept; it is tried again.', { error: errorLine(error) })
      return false
    } finally {
      this.#files = null
    }
  }

  #keepSubject(threadId: string, subject: string): void {
    if (subject === '') return
    if (this.#subjects.size >= MAX_SUBJECTS) this.#subjects.delete(this.#subjects.keys().next().value!)
    this.#subjects.set(threadId, subject)
  }

  async send({ target, text, replyTo, subject }: PlatformMessage): Promise<string> {
    return this.#send(target.chatId, { text, replyTo, subject, threadId: target.threadId })
  }

  async sendFile({ chatId, threadId }: PlatformTarget, file: PlatformFile): Promise<string> {
    return this.#send(chatId, { text: file.name, threadId, files: [file] })
  }

  async #send(to: string, { text, replyTo, subject, threadId, files = [] }: MailContent): Promise<string> {
    const { address, password, smtp } = this.#options
    if (!ADDRESS.test(to)) throw platformError('rejected', `"${to}" is no email address.`)
    const messageId = `<hermes.${randomUUID()}@${address.slice(address.lastIndexOf('@') + 1)}>`
    const mail: OutgoingMail = {
      ...{ to, text, files, messageId, inReplyTo: replyTo ?? threadId },
      subject: subject ?? (threadId === undefined ? FALLBACK_SUBJECT : await this.#answerSubject(threadId)),
      references: [...new Set([threadId, replyTo])].filter((id) => id !== undefined),
    }
    await sendMail({ server: smtp, address, password }, mail)
    return messageId
  }

  /** Programs for mail put a thread together by its subject too. */
  async #answerSubject(threadId: string): Promise<string> {
    const known = this.#subjects.get(threadId) ?? (await this.#inbox?.subjectOf(threadId).catch(() => null)) ?? null
    if (known === null) return FALLBACK_SUBJECT
    this.#keepSubject(threadId, known)
    return /^re\s*:/i.test(known) ? known : `Re: ${known}`
  }

  async download(
    attachment: IncomingAttachment,
    { maxBytes }: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    const [, uid = '', index = ''] = /^\d+:(\d+):(\d+)$/.exec(attachment.ref) ?? []
    const file = (await this.#filesOf(attachment.ref, uid))[Number(index)]
    if (!file) throw platformError('rejected', 'The mail with this file is gone.')
    const bytes = typeof file.content === 'string' ? Buffer.from(file.content) : new Uint8Array(file.content)
    if (bytes.byteLength > maxBytes)
      throw platformError('too_large', `The file is larger than ${Math.round(maxBytes / 1_048_576)} MB.`)
    return bytes
  }

  async #filesOf(ref: string, uid: string): Promise<readonly Attachment[]> {
    if (this.#files && ref.startsWith(`${this.#files.ref}:`)) return this.#files.files
    if (!this.#inbox) throw platformError('unreachable', 'The mailbox is not open now.')
    const mail = await this.#inbox.fetch(Number(uid))
    // A mailbox that was numbered anew has another mail under this number.
    if (!mail || !ref.startsWith(`${mail.ref}:`)) return []
    const read = await readMail(mail, { account: '', authservId: null })
    return read.type === 'message' ? read.files : []
  }

  async probe(): Promise<string> {
    const { address, password, imap, smtp } = this.#options
    const client = imapClient({ server: imap, address, password })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.logout()
    } catch (error) {
      throw toInboxError(error)
    } finally {
      client.close()
    }
    await checkOutbox({ server: smtp, address, password })
    return address
  }

  async close(): Promise<void> {
    this.#stopped.abort(new DOMException('The platform is closed.', 'AbortError'))
    await this.#hearing
    this.#inbox?.close()
    this.#set({ type: 'closed' })
  }

  #set(state: PlatformState): void {
    if (this.#state.type === 'failed' && state.type !== 'closed') return
    this.#state = state
    this.#listener?.onState(state)
  }

  #sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms, this.#stopped.signal).catch((error: unknown) => {
      if (!isAbort(error)) throw error
    })
  }
}

function badOptions(message: string): HermesError {
  return new HermesError(message, { code: 'platform.bad_options' })
}
