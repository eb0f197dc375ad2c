// A person and an agent write mails to one another, through a real mailbox.
import { type MailServer, mailServerMissing, needs, startMailServer } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chatStage } from '../__fixtures__/chat-stage.js'

let mail: MailServer

needs(mailServerMissing())('email, in a gateway', () => {
  beforeAll(async () => {
    mail = await startMailServer()
  })
  afterAll(() => mail.stop())

  it('answers in the thread, asks in words, takes the answer by mail, and says nothing to strangers', async () => {
    const [address, ada] = [await mail.addInbox('hermes'), await mail.addInbox('ada')]
    await mail.addInbox('eve')
    const at = { imap_host: '127.0.0.1', imap_port: mail.imapPort, smtp_host: '127.0.0.1', smtp_port: mail.smtpPort }
    const email = { address, password: mail.password, authserv_id: 'none', ...at }
    const { server, start } = await chatStage({ platforms: { email }, people: { owner: { email: [ada] } } })
    server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'It is gone.' })
    const letter = (from: string, id: string, text: string, headers: readonly string[] = []) =>
      [`From: ${from}`, `To: ${address}`, `Message-ID: <${id}@mail.test>`, ...headers, '', text, ''].join('\n')
    const inbox = async () => (await mail.mails('ada')).map((one) => one.replaceAll('\r\n', '\n'))
    await start()
    await mail.deliver('hermes', letter('eve@mail.test', 'e1', 'Let me in.', ['Subject: Hello']))
    await mail.deliver('hermes', letter(`Ada <${ada}>`, 'a1', 'Clean up.', ['Subject: Build']))
    await expect.poll(async () => (await inbox()).length, { timeout: 15_000 }).toBe(1)
    const [question] = await inbox()
    expect(question).toMatch(/^Subject: Re: Build$/m)
    expect(question).toMatch(/^References: <a1@mail\.test>$/m)
    expect(question).toMatch(/rm -rf build[\s\S]*Answer with \/approve/)
    const quoted = '/approve\n\nOn Tue, 24 Nov 2026 at 10:00, Hermes <hermes@mail.test> wrote:\n> Answer with /deny'
    const thread = ['Subject: Re: Build', 'References: <a1@mail.test>', 'In-Reply-To: <a1@mail.test>']
    await mail.deliver('hermes', letter(`Ada <${ada}>`, 'a2', quoted, thread))
    await expect
      .poll(async () => (await inbox()).some((one) => one.includes('It is gone.')), { timeout: 15_000 })
      .toBe(true)
    expect(server.requests).toHaveLength(2)
    expect(await mail.mails('eve')).toEqual([])
  }, 40_000)
})
