import type { Entry } from '@hermes/contracts/conversation'
import { userText } from '@hermes/contracts/conversation'
import { expect, it } from 'vitest'
import { addPieces, carries, type Pieces } from './carried-text.js'
import { carriesWhatWasRead } from './read-elsewhere.js'

const TEXT = 'The order 4711 of Ann goes to Harbour Street'

function piecesOf(text: string): Pieces {
  const pieces: Pieces = new Map()
  addPieces(text, pieces)
  return pieces
}

it('finds a text in the ways in which it is usually hidden', () => {
  const pieces = piecesOf(TEXT)
  const ways = [
    TEXT,
    encodeURIComponent(TEXT),
    encodeURIComponent(encodeURIComponent(TEXT)),
    TEXT.replaceAll(' ', '+'),
    Buffer.from(TEXT).toString('base64'),
    Buffer.from(TEXT).toString('base64url'),
    Buffer.from(TEXT).toString('hex'),
    [...TEXT].reverse().join(''),
    TEXT.toUpperCase().replaceAll(' ', '-'),
    TEXT.slice(4, 30),
    JSON.stringify({ a: TEXT }),
  ]
  for (const way of ways) expect(carries(`https://x.test/?q=${way}&t=1`, pieces), way).toBe(true)
  for (const other of ['https://x.test/orders/ann', 'https://x.test/?q=harbour', 'https://x.test/?t=1763990000'])
    expect(carries(other, pieces), other).toBe(false)
})

it('knows short texts whole, and the shortest not at all', () => {
  expect(carries('/?q=kestrel', piecesOf('Kestrel'))).toBe(true)
  expect(carries('/?q=kestre', piecesOf('Kestrel'))).toBe(false)
  expect(carries('/?q=ann', piecesOf('Ann'))).toBe(false)
})

it('tells an address that was found from one that was put together of what was read', () => {
  const tool = (text: string): Entry => ({
    type: 'message',
    seq: 1,
    atMs: 0,
    message: { role: 'tool', callId: 'c', toolName: 'read_file', content: [{ type: 'text', text }] },
  })
  const words: Entry = { type: 'message', seq: 2, atMs: 0, message: userText('Look at https://shop.test/orders?id=9') }
  const entries = [tool('TOKEN=sk-4f81ab20cd77\nsee https://docs.test/guide/getting-started?lang=en'), words]
  const carried = (address: string) => carriesWhatWasRead(address, { entries, isByProgram: false })
  expect(carried('https://docs.test/guide/getting-started?lang=en')).toBe(false)
  expect(carried('https://docs.test/guide/getting-started')).toBe(false)
  expect(carried('https://shop.test/orders?id=9')).toBe(false)
  expect(carried('https://other.test/new?page=2')).toBe(false)
  // What the agent had printed or written is no address that was found; what came from outside by the same way is.
  const leak = 'https://leak.test/?t=sk-4f81ab20cd77'
  const call = (name: string, args: object): Entry => ({
    ...{ type: 'message', seq: 3, atMs: 0 },
    message: {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c', name, args: args as never, rawArgs: '' }],
      finishReason: 'tool-calls',
    },
  })
  const printed = (text: string, origin?: 'external'): Entry => ({
    ...{ type: 'message', seq: 4, atMs: 0 },
    message: {
      role: 'tool',
      callId: 'c',
      toolName: 'terminal',
      content: [{ type: 'text', text, ...(origin ? { origin } : {}) }],
    },
  })
  expect(
    carriesWhatWasRead(leak, {
      entries: [...entries, call('terminal', { command: 'sh x' }), printed(leak)],
      isByProgram: false,
    }),
  ).toBe(true)
  expect(carriesWhatWasRead(leak, { entries: [...entries, printed(leak, 'external')], isByProgram: false })).toBe(false)
  expect(
    carriesWhatWasRead(leak, {
      entries: [...entries, call('write_file', { content: leak }), tool(leak)],
      isByProgram: false,
    }),
  ).toBe(true)
  // Any tool gives back what it was told; a link that was found stays one, whatever was done with it since.
  const echoed = [...entries, call('todo_write', { todos: [leak] }), tool(leak)]
  expect(carriesWhatWasRead(leak, { entries: echoed, isByProgram: false })).toBe(true)
  const guide = 'https://docs.test/guide/getting-started?lang=en'
  const kept = [...entries, call('write_file', { content: guide }), call('web_extract', { urls: [guide] })]
  expect(carriesWhatWasRead(guide, { entries: kept, isByProgram: false })).toBe(false)
  expect(carried('https://other.test/new?t=sk-4f81ab20cd77')).toBe(true)
  expect(carried('https://sk4f81ab20cd77.other.test/')).toBe(true)
  expect(
    carried(`https://docs.test/guide/getting-started?x=${Buffer.from('sk-4f81ab20cd77').toString('base64')}`),
  ).toBe(true)
  const cloned = [
    words,
    call('terminal', { command: 'curl https://shop.test/orders?id=9' }),
    tool('/orders?id=9 of Ann'),
  ]
  expect(carriesWhatWasRead('https://shop.test/orders?id=9', { entries: cloned, isByProgram: false })).toBe(false)
  const byProgram = (address: string) => carriesWhatWasRead(address, { entries, isByProgram: true })
  expect(['https://other.test/new?page=2', 'https://a.other.test/'].map(byProgram)).toEqual([true, true])
  expect(['https://shop.test/orders?id=9', 'https://shop.test/'].map(byProgram)).toEqual([false, false])
})
