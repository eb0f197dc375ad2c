// Mail that is sent: one connection for each, and known exactly up to where the server had it.
import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { toOutboxError } from './email-error.js'
import { isLoopback, type MailServer } from './inbox.js'

const CONNECT_MS = 20_000
const SILENCE_MS = 60_000

/** A mail to one person. */
export interface OutgoingMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly messageId: string
  readonly inReplyTo?: string | undefined
  readonly references: readonly string[]
  readonly files?: readonly { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array }[]
}

/** Whose mail it is, and through which server it goes. */
interface SmtpAccount {
  readonly server: MailServer
  readonly address: string
  readonly password: string
}

/** Sends one mail. Rejects as {@link toOutboxError} says. */
export async function sendMail(account: SmtpAccount, mail: OutgoingMail): Promise<void> {
  const { to, subject, text, messageId, inReplyTo, references, files = [] } = mail
  const composed = new MailComposer({
    ...{ from: { name: 'Hermes', address: account.address }, to, subject, text, messageId },
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    ...(references.length > 0 ? { references: [...references] } : {}),
    // So that no other program answers it.
    headers: { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'All' },
    attachments: files.map(({ name, mediaType, bytes }) => ({
      filename: name,
      contentType: mediaType,
      content: Buffer.from(bytes),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const source = await composed.compile().build()
  let isHandedOver = false
  // The server is given the text after it agreed to take it.
  const body = new Readable({
    read() {
      isHandedOver = true
      this.push(source)
      this.push(null)
    },
  })
  try {
    await withConnection(account, (connection) =>
      settled((done) => connection.send({ from: account.address, to: [to] }, body, done)),
    )
  } catch (error) {
    throw toOutboxError(error, { isHandedOver })
  }
}

/** Logs in and out. Rejects as {@link toOutboxError} says. */
export async function checkOutbox(account: SmtpAccount): Promise<void> {
  try {
    await withConnection(account, async () => undefined)
  } catch (error) {
    throw toOutboxError(error, { isHandedOver: false })
  }
}

type Done = (error?: Error | null) => void

async function withConnection(
  { server, address, password }: SmtpAccount,
  work: (connection: SMTPConnection) => Promise<void>,
): Promise<void> {
  const { host, port } = server
  const secure = port === 465
  const isOpen = isLoopback(host)
  const connection = new SMTPConnection({
    ...{ host, port, secure, requireTLS: !secure && !isOpen, ignoreTLS: isOpen, logger: false },
    ...{ name: address.slice(address.lastIndexOf('@') + 1) },
    ...{
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      dnsTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
    },
  })
  // What breaks off between two steps is told by an event alone.
  const broken = new Promise<never>((_, reject) => connection.on('error', reject))
  broken.catch(() => undefined)
  try {
    await Promise.race([broken, settled((done) => connection.connect(done))])
    if (connection.allowsAuth && password !== '')
      await Promise.race([
        broken,
        settled((done) => connection.login({ credentials: { user: address, pass: password } }, done)),
      ])
    await Promise.race([broken, work(connection)])
    connection.quit()
  } finally {
    connection.close()
  }
}

function settled(begin: (done: Done) => void): Promise<void> {
  return new Promise((resolve, reject) => begin((error) => (error ? reject(error) : resolve())))
}
