import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolContext } from '@hermes/contracts/tool'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createSendMessageTool, type MessagingService } from './send-message.js'

const service = (more: object = {}) =>
  ({
    outputs: '/outputs',
    about: async () => ({ person: null, name: 'another conversation' }),
    redact: (text: string) => text,
    aliases: async () => null,
    open: async () => ({
      find: async () => ({ platform: 'telegram', target: '1' }),
      send: async () => ({ type: 'sent' }),
    }),
    ...more,
  }) as unknown as MessagingService

it('asks about a file in words that no rule about messages covers', async () => {
  const { actions } = createSendMessageTool({ messaging: service() })
  const context = { environment: { root: '/work' }, sessionId: 's', isTainted: true }
  const requested = await actions!({ target: 'telegram:1', message: 'Look.\nMEDIA:/work/tax.pdf' }, context as never)
  expect(requested).toEqual([
    { type: 'send', target: 'telegram:1' },
    { type: 'read', path: '/work/tax.pdf', backend: 'local' },
    { type: 'send', target: 'file /work/tax.pdf to telegram:1' },
  ])
})

it('sends no other file than the one that was asked about', async () => {
  await using home = await temporaryHome()
  const [work, elsewhere] = [join(home.path, 'work'), join(home.path, 'elsewhere')]
  for (const folder of [work, elsewhere]) await mkdir(folder)
  await writeFile(join(elsewhere, 'tax.pdf'), 'x')
  await symlink(join(elsewhere, 'tax.pdf'), join(elsewhere, 'summary.txt'))
  const tool = createSendMessageTool({ messaging: service() })
  const context = {
    environment: { root: work, backend: 'local' },
    sessionId: 's',
    callId: 'c',
    permit: async () => ({}),
    signal: new AbortController().signal,
  }
  const send = (name: string) =>
    tool.execute({ target: 'telegram:1', message: `MEDIA:${join(elsewhere, name)}` }, context as unknown as ToolContext)
  expect(await send('summary.txt')).toMatchObject({
    isError: true,
    text: expect.stringContaining('is a link; the file is'),
  })
  expect(await send('tax.pdf')).toMatchObject({ text: 'Sent to telegram:1.' })
})
