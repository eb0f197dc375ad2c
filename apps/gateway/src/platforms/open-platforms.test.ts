import { defaultConfig } from '@hermes/config'
import { silentLogger, systemClock } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { configuredPlatforms } from './open-platforms.js'

const ACCOUNT = {
  EMAIL_ADDRESS: 'hermes@mail.test',
  EMAIL_PASSWORD: 'secret',
  EMAIL_IMAP_HOST: 'imap.mail.test',
  EMAIL_SMTP_HOST: 'smtp.mail.test',
}
const tools = {
  fetchTo: () => fetch,
  keeper: { get: async () => null, set: async () => undefined },
  clock: systemClock,
  logger: silentLogger,
}

it('hears no mail before somebody said who vouches for senders, or that nobody has to', async () => {
  const open = (more: Readonly<Record<string, string>>) =>
    configuredPlatforms(defaultConfig(), { ...ACCOUNT, ...more }, []).find(({ name }) => name === 'email')!
  await expect(open({}).create(tools)).rejects.toMatchObject({
    code: 'platform.bad_options',
    message: expect.stringContaining('EMAIL_AUTHSERV_ID'),
  })
  expect(open({ EMAIL_AUTHSERV_ID: 'none' }).warnings).toHaveLength(1)
  expect(open({ EMAIL_AUTHSERV_ID: 'mx.mail.test' }).warnings).toEqual([])
  for (const proof of ['none', 'mx.mail.test'])
    expect(await open({ EMAIL_AUTHSERV_ID: proof }).create(tools)).toMatchObject({ name: 'email' })
})

it('knows people of email by their address, however it is written', () => {
  const config = defaultConfig()
  const email = {
    ...config.platforms.email,
    allowed_users: ['Ada@Example.org'],
    allow_admin_from: ['Boss@Example.org'],
    channel_overrides: { 'Ada@Example.org': { model: 'small' } },
  }
  const variables = {
    ...ACCOUNT,
    EMAIL_ALLOWED_USERS: 'Bob@Example.org, *',
    GATEWAY_ALLOWED_USERS: 'Cleo@EXAMPLE.org',
    TELEGRAM_BOT_TOKEN: '1:x',
  }
  const [telegram, mail] = configuredPlatforms({ ...config, platforms: { ...config.platforms, email } }, variables, [])
  expect(mail!.access.allowedUsers).toEqual(new Set(['ada@example.org', 'bob@example.org', '*', 'cleo@example.org']))
  expect(mail!.access.admins).toEqual(new Set(['boss@example.org']))
  expect(mail!.overrides).toEqual({ 'ada@example.org': { model: 'small' } })
  expect(telegram!.access.allowedUsers).toEqual(new Set(['Cleo@EXAMPLE.org']))
})
