// The mailbox that is heard: what is new since the last mail that was taken, however often the connection breaks off.
import type { Clock } from '@hermes/contracts'
import { platformError } from '@hermes/platform'
import { ImapFlow, type MessageStructureObject } from 'imapflow'
import { z } from 'zod'
import { toInboxError } from './email-error.js'
import type { FetchedMail } from './read-mail.js'

/** Keeps one small text for good. */
export interface Keeper {
  get(): Promise<string | null>
  set(text: string): Promise<void>
}

/** A server that is logged in to. */
export interface MailServer {
  readonly host: string
  readonly port: number
}

/** Of a mail beyond this, the beginning is read. */
const MAX_MAIL_BYTES = 48 * 1024 * 1024
const MAX_TEXT_BYTES = 1024 * 1024
const CUT_AT_BYTES = 512 * 1024
const CONNECT_MS = 20_000
const SILENCE_MS = 110_000
const COMMAND_MS = 60_000
/** The slowest line on which a mail is waited for. */
const BYTES_PER_MS = 20
const DAY_MS = 24 * 3_600_000
const CURSOR = z.object({ uidValidity: z.string(), uid: z.number(), atMs: z.number() })

type Cursor = z.infer<typeof CURSOR>

/** Options of {@link openInbox}. */
interface InboxOptions {
  readonly server: MailServer
  readonly address: string
  readonly password: string
  readonly keeper: Keeper
  /** Where nothing was heard before, mail counts that came since. Unix milliseconds. */
  readonly sinceMs: number
  readonly clock: Clock
  /** Ends the attempt to open it. */
  readonly signal: AbortSignal
}

/** A mailbox that is open. What fails rejects as {@link toInboxError} says. */
export interface Inbox {
  /** Numbers of mails that were not taken, in order. Proves that the server answers. */
  waiting(): Promise<readonly number[]>
  /** What a mail is known by, in whatever connection. */
  refOf(uid: number): string
  /** Whether it can still be asked: what failed was not the connection. */
  isOpen(): boolean
  /** `null` for a mail that is gone. Waits the longer the larger the mail is; a server that is silent for longer is left. */
  fetch(uid: number): Promise<FetchedMail | null>
  /** All up to this one were taken. */
  taken(uid: number, atMs: number): Promise<void>
  /** What the thread that began with this mail is about; `null` where that is not known. */
  subjectOf(messageId: string): Promise<string | null>
  /** Until something came, the connection broke off, or the signal fires. */
  news(timeoutMs: number, signal: AbortSignal): Promise<void>
  close(): void
}

/** Rings when something comes; what came while nobody waited counts. */
class Bell {
  #hasRung = false
  #wake: (() => void) | null = null

  readonly ring = (): void => {
    this.#hasRung = true
    this.#wake?.()
  }

  reset(): void {
    this.#hasRung = false
  }

  /** Until it rings, the time is over, or the signal fires. */
  async rung(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#hasRung) return
    const over = new AbortController()
    const late = clock.sleep(timeoutMs, AbortSignal.any([signal, over.signal])).catch(() => undefined)
    const heard = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await Promise.race([heard, late])
    this.#wake = null
    over.abort()
  }
}

/** Runs a command, and leaves a server that does not answer in time. */
type Bounded = <Result>(work: Promise<Result>, timeoutMs?: number) => Promise<Result>

/** Whether a server is this machine: no certificate proves it, and nobody listens in between. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** Logs in, and out again at once where only that is wanted. */
export function imapClient({
  server: { host, port },
  address,
  password,
}: Pick<InboxOptions, 'server' | 'address' | 'password'>): ImapFlow {
  const secure = port === 993
  return new ImapFlow({
    ...{ host, port, secure, logger: false, auth: { user: address, pass: password } },
    ...(secure ? {} : { doSTARTTLS: !isLoopback(host) }),
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, autoIdleDelay: 50 },
    maxLiteralSize: MAX_MAIL_BYTES + 1024 * 1024,
  })
}

export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const client = imapClient(options)
  const bell = new Bell()
  const { ring } = bell
  // Each is told by what is called next, too.
  for (const event of ['exists', 'close', 'error']) client.on(event, ring)
  const leave = () => client.close()
  options.signal.addEventListener('abort', leave, { once: true })
  const bounded: Bounded = async (work, timeoutMs = COMMAND_MS) => {
    const late = new AbortController()
    const timer = options.clock.sleep(timeoutMs, late.signal).then(
      // A connection that is open on one side only answers nothing.
      () => client.close(),
      () => undefined,
    )
    try {
      return await work
    } catch (error) {
      throw toInboxError(error)
    } finally {
      late.abort()
      await timer
    }
  }
  try {
    await bounded(client.connect())
    const { uidValidity } = await bounded(client.mailboxOpen('INBOX', { readOnly: true }))
    let cursor = await startAt(client, options, String(uidValidity))
    return {
      waiting: async () => {
        bell.reset()
        await bounded(client.noop())
        const found = await bounded(client.search({ uid: `${cursor.uid + 1}:*` }, { uid: true }))
        // The last mail is in every range to `*`.
        return (found || []).filter((uid) => uid > cursor.uid).sort((one, other) => one - other)
      },
      refOf: (uid) => refOf(uid, cursor.uidValidity),
      isOpen: () => client.usable,
      fetch: (uid) => fetchMail(client, { uid, ref: refOf(uid, cursor.uidValidity), bounded }),
      taken: async (uid, atMs) => {
        cursor = { ...cursor, uid, atMs: Math.max(atMs, cursor.atMs) }
        await options.keeper.set(JSON.stringify(cursor))
      },
      subjectOf: (messageId) => bounded(subjectOf(client, messageId)),
      news: (timeoutMs, signal) => (client.usable ? bell.rung(options.clock, timeoutMs, signal) : Promise.resolve()),
      close: () => {
        options.signal.removeEventListener('abort', leave)
        client.close()
      },
    }
  } catch (error) {
    options.signal.removeEventListener('abort', leave)
    client.close()
    throw toInboxError(error)
  }
}

/** Where to go on. A mailbox that numbers its mails anew is read from the time of the last mail on. */
async function startAt(client: ImapFlow, { keeper, sinceMs }: InboxOptions, uidValidity: string): Promise<Cursor> {
  const parsed = CURSOR.safeParse(json(await keeper.get()))
  const kept = parsed.success ? parsed.data : null
  if (kept?.uidValidity === uidValidity) return kept
  const fromMs = Math.floor((kept?.atMs ?? sinceMs) / 1_000) * 1_000
  const recent = (await client.search({ since: new Date(fromMs - DAY_MS) }, { uid: true })) || []
  const next = client.mailbox ? client.mailbox.uidNext : 1
  let uid = next - 1
  // Servers search by day.
  for (const one of recent) {
    const mail = await client.fetchOne(String(one), { uid: true, internalDate: true }, { uid: true })
    if (mail && timeOf(mail.internalDate) >= fromMs) uid = Math.min(uid, one - 1)
  }
  const cursor = { uidValidity, uid, atMs: fromMs }
  await keeper.set(JSON.stringify(cursor))
  return cursor
}

async function fetchMail(
  client: ImapFlow,
  { uid, ref, bounded }: { readonly uid: number; readonly ref: string; readonly bounded: Bounded },
): Promise<FetchedMail | null> {
  const wanted = { uid: true, size: true, internalDate: true, bodyStructure: true }
  const about = await bounded(client.fetchOne(String(uid), wanted, { uid: true }))
  if (!about) return gone(client)
  const { size = 0 } = about
  const isCut = size > MAX_MAIL_BYTES || textBytes(about.bodyStructure) > MAX_TEXT_BYTES
  const source = isCut ? { maxLength: CUT_AT_BYTES } : true
  const timeoutMs = COMMAND_MS + Math.ceil((isCut ? CUT_AT_BYTES : size) / BYTES_PER_MS)
  const mail = await bounded(client.fetchOne(String(uid), { uid: true, source }, { uid: true }), timeoutMs)
  if (!mail || !mail.source) return gone(client)
  return { source: mail.source, isCut, ref, atMs: timeOf(about.internalDate) }
}

/** A client that lost its connection finds nothing in any mailbox. */
function gone(client: ImapFlow): null {
  if (!client.usable) throw platformError('unreachable', 'The connection to the mailbox broke off.')
  return null
}

function refOf(uid: number, uidValidity: string): string {
  return `${uidValidity}:${uid}`
}

/** How much there is to read in a mail, without its files. */
function textBytes(part: MessageStructureObject | undefined): number {
  if (!part) return 0
  const isText = part.type.startsWith('text/') && part.disposition !== 'attachment'
  return (part.childNodes ?? []).reduce((sum, child) => sum + textBytes(child), isText ? (part.size ?? 0) : 0)
}

async function subjectOf(client: ImapFlow, messageId: string): Promise<string | null> {
  const [uid] = (await client.search({ header: { 'message-id': messageId } }, { uid: true })) || []
  if (uid === undefined) return null
  const mail = await client.fetchOne(String(uid), { uid: true, envelope: true }, { uid: true })
  return (mail && mail.envelope?.subject) || null
}

function timeOf(date: Date | string | undefined): number {
  return date === undefined ? 0 : new Date(date).getTime()
}

function json(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}
