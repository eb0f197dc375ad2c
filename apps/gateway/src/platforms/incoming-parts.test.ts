import type { IncomingMessage, Platform } from '@hermes/contracts/platform'
import { expect, it } from 'vitest'
import { partsOf, wordsOf } from './incoming-parts.js'

const png = Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1')

it('has what others send name them, an image without a word too', async () => {
  const platform = { download: async () => png } as Partial<Platform> as Platform
  const message = {
    ...{ type: 'message', text: '', sender: { id: '7', name: 'Bob' } },
    attachments: [{ kind: 'image', name: 'a.png', ref: '1' }],
  } as Partial<IncomingMessage> as IncomingMessage
  const about = { platform, keep: async () => '/kept', isShared: false, signal: new AbortController().signal }
  const sources = [{ type: 'person', name: 'a message of Bob' }]
  expect(await partsOf(message, { ...about, isOwner: false })).toMatchObject([{ type: 'image', sources }])
  expect(await partsOf({ ...message, isForwarded: true }, { ...about, isOwner: true })).toMatchObject([
    { type: 'text', sources },
    { type: 'image', sources },
  ])
  const [own] = await partsOf(message, { ...about, isOwner: true })
  expect(own).not.toHaveProperty('sources')
})

it('names and marks words that are no message of their own', () => {
  const sender = { id: '8', name: 'Eve' }
  const sources = [{ type: 'person', name: 'a message of Eve' }]
  const shared = { sender, isShared: true, isOwner: false }
  expect(wordsOf('look', shared)).toEqual({ type: 'text', text: '[Eve]\nlook', sources })
  expect(wordsOf('[Eve]\nlook', shared).text).toBe('[Eve]\nlook')
  expect(wordsOf('look', { sender, isShared: false, isOwner: true })).toEqual({ type: 'text', text: 'look' })
})

it('tells the model when a message was sent, where that is wanted', async () => {
  const message = {
    ...{ type: 'message', text: 'now?', sender: { id: '7', name: 'Bob' } },
    ...{ attachments: [], atMs: Date.UTC(2026, 0, 2, 23, 5) },
  } as Partial<IncomingMessage> as IncomingMessage
  const about = { platform: {} as Platform, keep: async () => '', isShared: false, isOwner: true }
  const { signal } = new AbortController()
  const parts = await partsOf(message, { ...about, timeZone: 'Europe/Berlin', signal })
  expect(parts).toEqual([
    { type: 'text', text: '[Sent 2026-01-03 00:05, Europe/Berlin]', origin: 'reminder' },
    { type: 'text', text: 'now?' },
  ])
  expect(await partsOf({ ...message, text: '' }, { ...about, timeZone: 'UTC', signal })).toEqual([])
})
