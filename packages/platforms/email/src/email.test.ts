import { silentLogger, systemClock } from '@hermes/contracts'
import type { Incoming, IncomingMessage, PlatformState } from '@hermes/contracts/platform'
import { failureOf } from '@hermes/platform'
import { testPlatform } from '@hermes/platform/testing'
import { type MailServer, mailServerMissing, needs, startMailServer } from '@hermes/testkit/daemons'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createEmail, type EmailOptions } from './index.js'

const ADA = 'ada@example.org'

let server: MailServer
let boxes = 0

/** Keeps what it is given, and says how far mail was taken. */
function keeperOf(text: string | null = null) {
  let kept = text
  const keeper = { get: async () => kept, set: async (next: string) => void (kept = next) }
  return { keeper, uid: () => (kept === null ? 0 : (JSON.parse(kept) as { uid: number }).uid) }
}

/** A server that takes mail and can be told to fail. */
async function smtpStage() {
  const mails: Email[] = []
  let next: 'rate-limited' | 'rejected' | 'unheard' | null = null
  const stage = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(null, { user: 'anybody' }),
    onData: (stream, _session, done) => {
      const [chunks, fault]: [Buffer[], typeof next] = [[], next]
      next = null
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const refusal = { 'rate-limited': 451, rejected: 550 } as const
        if (fault === 'rate-limited' || fault === 'rejected')
          return done(Object.assign(new Error('Not now.'), { responseCode: refusal[fault] }))
        void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          mails.push(mail)
          if (fault === 'unheard') for (const connection of stage.connections) connection.close()
          else done()
        })
      })
    },
  })
  const listening = stage.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  const { port } = listening.address() as { port: number }
  const close = () => new Promise<void>((resolve) => stage.close(() => resolve()))
  return { mails, port, close, fail: (how: NonNullable<typeof next>) => void (next = how) }
}

interface Letter {
  readonly from?: string
  readonly subject?: string
  readonly text?: string
  readonly headers?: readonly string[]
  readonly id?: string
}

function letter({ from = `Ada <${ADA}>`, subject = 'A question', text = 'Hello.', headers = [], id }: Letter): string {
  const own = id ?? `<${Math.random().toString(36).slice(2)}@example.org>`
  const lines = [`From: ${from}`, 'To: hermes@mail.test', `Subject: ${subject}`, `Message-ID: ${own}`, ...headers]
  const type = headers.some((line) => /^content-type/i.test(line)) ? [] : ['Content-Type: text/plain; charset=utf-8']
  return [...lines, ...type, '', text, ''].join('\n')
}

async function start(over: Partial<EmailOptions> = {}) {
  const name = `box${++boxes}`
  const address = await server.addInbox(name)
  const kept = keeperOf()
  const options: EmailOptions = {
    ...{ address, password: server.password, imap: { host: '127.0.0.1', port: server.imapPort } },
    ...{
      smtp: { host: '127.0.0.1', port: server.smtpPort },
      keeper: kept.keeper,
      clock: systemClock,
      logger: silentLogger,
    },
    ...over,
  }
  const platform = createEmail(options)
  return { name, address, platform, options, kept, deliver: (mail: Letter) => server.deliver(name, letter(mail)) }
}

function listen(
  platform: ReturnType<typeof createEmail>,
  take: (event: Incoming) => Promise<void> = async () => undefined,
) {
  const messages: IncomingMessage[] = []
  const states: PlatformState[] = []
  platform.connect({
    hear: async (event) => {
      await take(event)
      if (event.type === 'message') messages.push(event)
    },
    onState: (state) => states.push(state),
  })
  onTestFinished(() => platform.close())
  return {
    messages,
    states,
    until: (count: number) => expect.poll(() => messages.length, { timeout: 10_000 }).toBe(count),
  }
}

needs(mailServerMissing())('email, at a real mailbox', () => {
  beforeAll(async () => {
    server = await startMailServer()
  })
  afterAll(() => server.stop())

  testPlatform({
    create: async () => {
      const smtp = await smtpStage()
      const { name, platform, kept, deliver } = await start({ smtp: { host: '127.0.0.1', port: smtp.port } })
      let delivered = 0
      return {
        platform,
        target: { chatId: ADA },
        say: async (text) => {
          delivered++
          await deliver({ text, headers: ['In-Reply-To: <first@example.org>'] })
        },
        shown: () => smtp.mails.map(({ text = '' }) => text.trimEnd()),
        unconfirmed: () => delivered - kept.uid(),
        fail: (how) => {
          if (how !== 'markup') smtp.fail(how)
        },
        revoke: () => server.revoke(name),
        close: () => smtp.close(),
      }
    },
  })

  it('goes through postfix and dovecot both ways, and what it answers stands in the thread of the question', async () => {
    const ada = await start()
    const hermes = await start()
    const [heard, answered] = [listen(hermes.platform), listen(ada.platform)]
    const question = await ada.platform.send({
      target: { chatId: hermes.address },
      text: 'First?',
      markup: 'plain',
      subject: 'Grüße',
    })
    // Ada is a program here, and says so; nobody answers a program.
    await expect.poll(async () => (await server.mails(hermes.name)).length, { timeout: 10_000 }).toBe(1)
    await hermes.deliver({
      from: `Ada <${ada.address}>`,
      id: question,
      subject: '=?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
      text: 'First?',
    })
    await heard.until(1)
    const [message] = heard.messages
    expect(message).toMatchObject({
      ...{ text: 'Subject: Grüße\n\nFirst?', sender: { id: ada.address, name: 'Ada' } },
      chat: { id: ada.address, type: 'dm', threadId: question },
    })
    const target = { chatId: ada.address, threadId: question }
    const answer = await hermes.platform.send({
      target,
      text: '# Yes\n\n**Bold**',
      markup: 'markdown',
      replyTo: question,
    })
    await expect.poll(async () => (await server.mails(ada.name)).length, { timeout: 10_000 }).toBe(1)
    const mail = await PostalMime.parse((await server.mails(ada.name))[0]!)
    expect(mail).toMatchObject({
      subject: 'Re: Grüße',
      messageId: answer,
      inReplyTo: question,
      references: question,
      text: '# Yes\n\n**Bold**\n',
    })
    expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-replied')
    expect(answered.messages).toEqual([])
    expect(await hermes.platform.probe()).toBe(hermes.address)
  })

  it('finds the subject of a thread in the mailbox after a restart', async () => {
    const { options, deliver, platform } = await start()
    const heard = listen(platform)
    await deliver({ id: '<root@example.org>', subject: 'Garden' })
    await heard.until(1)
    await platform.close()
    const smtp = await smtpStage()
    const next = createEmail({ ...options, smtp: { host: '127.0.0.1', port: smtp.port } })
    const { states } = listen(next)
    await expect.poll(() => states.at(-1)?.type).toBe('connected')
    await next.send({ target: { chatId: ADA, threadId: '<root@example.org>' }, text: 'ok', markup: 'plain' })
    expect(smtp.mails[0]).toMatchObject({ subject: 'Re: Garden', inReplyTo: '<root@example.org>' })
    await smtp.close()
  })

  it('hears what came since it began, and while it was away, nothing twice, also where the mailbox numbers its mails anew', async () => {
    const { name, options, deliver } = await start()
    const answer = ['In-Reply-To: <x@y>']
    await server.deliver(name, letter({ text: 'Long ago.', headers: answer }), new Date(systemClock.now() - 60_000))
    const early = createEmail(options)
    const first = listen(early)
    await expect.poll(() => first.states.at(-1)?.type).toBe('connected')
    await deliver({ text: 'One.', headers: answer })
    await first.until(1)
    await early.close()
    await deliver({ text: 'Two.', headers: answer })
    const again = createEmail(options)
    const second = listen(again)
    await second.until(1)
    await deliver({ text: 'Three.', headers: answer })
    await second.until(2)
    await again.close()
    expect([...first.messages, ...second.messages].map(({ text }) => text)).toEqual(['One.', 'Two.', 'Three.'])
    await server.renumber(name, { without: 1 })
    const third = listen(createEmail({ ...options, keeper: keeperOf(await options.keeper.get()).keeper }))
    await deliver({ text: 'Four.', headers: answer })
    await expect.poll(() => third.messages.at(-1)?.text, { timeout: 10_000 }).toBe('Four.')
    const ids = (messages: readonly IncomingMessage[]) => messages.map(({ id, text }) => `${id} ${text}`)
    // What is heard again after that is known by its id.
    const known = ids([...first.messages, ...second.messages])
    expect(ids(third.messages).filter((one) => !one.endsWith('Four.') && !known.includes(one))).toEqual([])
  })

  it('answers no program, no list, no report, not itself, and nobody whose sender is made up', async () => {
    const { address, deliver, platform } = await start({ authservId: 'mx.mail.test' })
    const { messages, until } = listen(platform)
    const proven = (result: string) => `Authentication-Results: mx.mail.test; ${result}`
    const pass = proven('dmarc=pass header.from=example.org')
    const refused: Letter[] = [
      ...[
        'Auto-Submitted: auto-generated',
        'Precedence: bulk',
        'List-Id: <l.example.org>',
        'List-Unsubscribe: <mailto:x@y>',
        'Return-Path: <>',
        'X-Autoreply: yes',
      ].map((header) => ({ headers: [header, pass] })),
      { headers: ['Content-Type: multipart/report; boundary=x', pass] },
      ...[`Me <${address}>`, 'noreply@example.org', 'MAILER-DAEMON@example.org', 'nobody', 'a@b.c, d@e.f'].map(
        (from) => ({ from, headers: [pass] }),
      ),
      { headers: ['From: Eve <eve@example.org>', pass] },
      ...[
        'dmarc=fail header.from=example.org',
        'dkim=pass header.d=evil.org',
        'spf=pass smtp.mailfrom=ada@evil.org',
        'none',
      ].map((result) => ({ headers: [proven(result)] })),
      { headers: ['Authentication-Results: mx.evil.org; dmarc=pass'] },
    ]
    for (const one of refused) await deliver(one)
    await deliver({ text: 'by DMARC', headers: [pass] })
    await deliver({ text: 'by key', headers: [proven('dkim=pass header.d=example.org')] })
    await deliver({ text: 'by server', headers: [proven('spf=pass smtp.mailfrom=bounce@example.org')] })
    await until(3)
    expect(messages.map(({ text }) => text.split('\n').at(-1))).toEqual(['by DMARC', 'by key', 'by server'])
  })

  it('brings files, and the words of a mail that has HTML only; a mail of ten megabytes and one that is broken stop nothing', async () => {
    const { deliver, platform } = await start()
    const { messages, until } = listen(platform)
    const mixed = 'Content-Type: multipart/mixed; boundary=cut'
    const file = [
      '--cut',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>See <b>this</b><script>x()</script></p>',
      '--cut',
    ]
    const bytes = Buffer.from('a,b\n1,2\n')
    const rest = [
      'Content-Type: text/csv; name="t.csv"',
      'Content-Disposition: attachment; filename="t.csv"',
      'Content-Transfer-Encoding: base64',
      '',
      bytes.toString('base64'),
      '--cut--',
    ]
    await deliver({ text: [...file, ...rest].join('\n'), headers: ['MIME-Version: 1.0', mixed], subject: 'Table' })
    await deliver({ text: `${'long '.repeat(20)}\n`.repeat(100_000), subject: 'Long', headers: [] })
    await deliver({
      text: '\u0000\u0007--cut',
      headers: ['Content-Type: multipart/mixed; boundary="', 'References: <<<>'],
      subject: '=?utf-8?B?====?=',
    })
    await deliver({ text: 'the last' })
    await until(4)
    const [table, long] = messages
    expect(table).toMatchObject({
      text: 'Subject: Table\n\nSee this',
      attachments: [{ kind: 'file', name: 't.csv', mediaType: 'text/csv', size: 8 }],
    })
    const limits = { maxBytes: 100, signal: AbortSignal.timeout(10_000) }
    expect(Buffer.from(await platform.download(table!.attachments[0]!, limits))).toEqual(bytes)
    const refused = platform
      .download(table!.attachments[0]!, { ...limits, maxBytes: 3 })
      .catch((error: unknown) => error)
    expect(failureOf(await refused).failure).toBe('too_large')
    expect(long!.text.slice(-48)).toBe('[This mail is longer than what is read of one.]'.padStart(48, '\n'))
    expect(long!.text.length).toBeLessThan(600_000)
  }, 30_000)
})

it('asks for what is missing before it connects', () => {
  const options = {
    address: 'a@b.example',
    password: 'x',
    keeper: keeperOf().keeper,
    clock: systemClock,
    logger: silentLogger,
  }
  const at = { host: '127.0.0.1', port: 1 }
  for (const over of [{ address: 'nobody' }, { password: '' }, { imap: { host: '', port: 993 } }])
    expect(() => createEmail({ imap: at, smtp: at, ...options, ...over })).toThrow(/Put EMAIL_/)
})

it('knows that nothing was sent where no server was reached, and shows no password', async () => {
  const at = { host: '127.0.0.1', port: 1 }
  const platform = createEmail({
    address: 'a@b.example',
    password: 'hunter2hunter2',
    imap: at,
    smtp: at,
    keeper: keeperOf().keeper,
    clock: systemClock,
    logger: silentLogger,
  })
  const error = await platform
    .send({ target: { chatId: ADA }, text: 'x', markup: 'plain' })
    .catch((cause: unknown) => cause)
  expect(failureOf(error).failure).toBe('unreachable')
  expect(String(error)).not.toContain('hunter2')
  const bad = await platform
    .send({ target: { chatId: 'x\r\nBcc: y@z.example' }, text: 'x', markup: 'plain' })
    .catch((cause: unknown) => cause)
  expect(failureOf(bad).failure).toBe('rejected')
})
