// A server that fails at single mails, which no real one does when told to.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Clock, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { IncomingMessage } from '@hermes/contracts/platform'
import { expect, it, onTestFinished } from 'vitest'
import { createEmail } from './index.js'

const HANGS_BYTES = 200_000

interface StagedMail {
  readonly from: string
  /** `no`: the server refuses to give it. `hangs`: it never comes. `closes`: the server leaves. */
  readonly way?: 'no' | 'hangs' | 'closes'
}

/** As much of an IMAP server as is asked for. Mail is numbered from 1 on. */
async function stage(mails: StagedMail[], { onLook = () => undefined }: { readonly onLook?: () => void } = {}) {
  const fetched: number[] = []
  const sockets: Socket[] = []
  const answer = (socket: Socket, line: string) => {
    const [tag = '', ...words] = line.split(' ')
    const command = words.join(' ').toUpperCase()
    const [, uid, isSource] = /^UID FETCH (\d+) .*?(BODY\.PEEK\[\])?\)?$/.exec(command) ?? []
    if (command.startsWith('CAPABILITY')) socket.write('* CAPABILITY IMAP4rev1\r\n')
    if (command.startsWith('LIST')) socket.write('* LIST (\\HasNoChildren) "/" INBOX\r\n')
    if (command.startsWith('EXAMINE'))
      socket.write(`* FLAGS ()\r\n* ${mails.length} EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 99] ok\r\n`)
    if (command.startsWith('NOOP')) onLook()
    if (command.startsWith('UID SEARCH')) socket.write(`* SEARCH ${mails.map((_, at) => at + 1).join(' ')}\r\n`)
    if (uid !== undefined) {
      const { from, way } = mails[Number(uid) - 1]!
      const mail = `From: ${from}\r\nSubject: of ${from}\r\nMessage-ID: <${uid}@x>\r\nIn-Reply-To: <a@b>\r\n\r\nmail ${uid}\r\n`
      if (!isSource) {
        const size = way === 'hangs' ? HANGS_BYTES : mail.length
        const about = `UID ${uid} RFC822.SIZE ${size} INTERNALDATE "01-Jan-2026 00:00:00 +0000"`
        const structure = 'BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" 8 1 NIL NIL NIL NIL)'
        socket.write(`* ${uid} FETCH (${about} ${structure})\r\n`)
      } else {
        fetched.push(Number(uid))
        if (way === 'hangs') return
        if (way === 'closes') return void socket.destroy()
        if (way === 'no') return void socket.write(`${tag} NO [SERVERBUG] Internal error.\r\n`)
        socket.write(`* ${uid} FETCH (UID ${uid} BODY[] {${mail.length}}\r\n${mail})\r\n`)
      }
    }
    if (command.startsWith('IDLE')) return void socket.write('+ idling\r\n')
    socket.write(`${tag} OK ${command.startsWith('EXAMINE') ? '[READ-ONLY] ' : ''}done\r\n`)
  }
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write('* OK ready\r\n')
    createInterface(socket)
      .on('line', (line) => answer(socket, line))
      .on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const drop = async () => {
    for (const socket of sockets) socket.destroy()
    // What came before this greeting was read before it.
    const probe = connect(port, '127.0.0.1')
    await once(probe, 'data')
    probe.destroy()
  }
  return { port, fetched, drop, connections: () => sockets.length }
}

const HOUR_MS = 3_600_000
/** Before it connects once more, beside what is at most 30 seconds; less by what passed since it failed. */
const WAITS = [32_000, 64_000, 128_000, 256_000, 300_000]

/** Tries come at once; a server is left at once where it may be silent for `late` milliseconds, else never. Time passes by ten times what is waited for. */
function quickClock(late: number | null = null): Clock {
  let passedMs = 0
  return {
    now: () => systemClock.now() + passedMs,
    sleep: async (ms, signal) => {
      const isOver = ms <= 30_000 || WAITS.some((wait) => ms <= wait && ms > wait - 1_000) || ms === late
      await systemClock.sleep(isOver ? 1 : HOUR_MS, signal)
      passedMs += 10 * ms
    },
  }
}

async function hear(
  port: number,
  {
    clock = quickClock(),
    take = async () => undefined,
  }: { clock?: Clock; take?: (text: string) => Promise<void> } = {},
) {
  const warnings: unknown[] = []
  const startMs = clock.now()
  let droppedAfterMs = 0
  const warn: Logger['warn'] = (message, fields) => {
    if (!message.includes('given up')) return
    warnings.push(fields)
    droppedAfterMs = clock.now() - startMs
  }
  let kept = JSON.stringify({ uidValidity: '7', uid: 0, atMs: 0 })
  const at = { host: '127.0.0.1', port }
  const platform = createEmail({
    ...{ address: 'hermes@mail.test', password: 'secret', imap: at, smtp: at, clock },
    keeper: { get: async () => kept, set: async (next) => void (kept = next) },
    logger: { ...silentLogger, warn, error: warn },
  })
  const messages: IncomingMessage[] = []
  platform.connect({
    hear: async (event) => {
      if (event.type !== 'message') return
      await take(event.text)
      messages.push(event)
    },
    onState: () => undefined,
  })
  onTestFinished(() => platform.close())
  const texts = () => messages.map(({ text }) => text)
  return { texts, warnings, droppedAfterMs: () => droppedAfterMs, uid: () => (JSON.parse(kept) as { uid: number }).uid }
}

const often = { timeout: 60_000 }

it('gives up a mail that the server does not give, and hears those behind it meanwhile', async () => {
  const { port, fetched, connections } = await stage([{ from: 'eve@x.org', way: 'no' }, { from: 'ada@x.org' }])
  const { texts, warnings, uid, droppedAfterMs } = await hear(port)
  await expect.poll(uid, often).toBe(2)
  expect(texts()).toEqual(['mail 2'])
  expect(droppedAfterMs()).toBeGreaterThanOrEqual(HOUR_MS)
  expect(fetched.indexOf(2)).toBe(1)
  expect(warnings).toEqual([{ uid: 1 }])
  expect(connections()).toBe(1)
})

it.each(['hangs', 'closes'] as const)('connects again, and gives up a mail that %s each time', async (way) => {
  const { port, fetched, connections } = await stage([{ from: 'eve@x.org', way }, { from: 'ada@x.org' }])
  // One minute, and a second for each 20 kB.
  const { texts, warnings, uid, droppedAfterMs } = await hear(port, {
    clock: quickClock(60_000 + HANGS_BYTES / 20),
  })
  await expect.poll(uid, often).toBe(2)
  expect(texts()).toEqual(['mail 2'])
  expect(droppedAfterMs()).toBeGreaterThanOrEqual(HOUR_MS)
  expect(fetched.filter((one) => one === 1).length).toBeGreaterThanOrEqual(10)
  expect(warnings).toEqual([{ uid: 1 }])
  expect(connections()).toBeLessThan(40)
})

it('gives up one mail after the other where none can be read', async () => {
  const { port, fetched } = await stage([
    { from: 'eve@x.org', way: 'no' },
    { from: 'ada@x.org', way: 'no' },
  ])
  const { uid, warnings } = await hear(port)
  await expect.poll(uid, often).toBe(2)
  expect(warnings).toEqual([{ uid: 1 }, { uid: 2 }])
  const [first, second] = [1, 2].map((mail) => fetched.filter((one) => one === mail).length)
  expect(second).toBeGreaterThan(first! + 10)
})

it('offers a mail that waited behind an earlier one of its sender once that is given up', async () => {
  const mails: StagedMail[] = [{ from: 'ada@x.org' }, { from: 'ada@x.org' }]
  // Somebody else writes all the time, and is heard.
  const onLook = () => void (mails.length < 20 && mails.push({ from: 'bob@x.org' }))
  const { port } = await stage(mails, { onLook })
  const take = async (text: string) => {
    if (text === 'mail 1') throw new Error('Not now.')
  }
  const { texts, warnings } = await hear(port, { take })
  await expect.poll(() => warnings, often).toEqual([{ uid: 1 }])
  await expect.poll(texts, often).toContain('mail 2')
  expect(warnings).toEqual([{ uid: 1 }])
})

it('skips no mail where the connection breaks off while an earlier one is heard', async () => {
  const { port, drop } = await stage([{ from: 'ada@x.org' }, { from: 'bob@x.org' }])
  const take = async (text: string) => {
    if (text === 'mail 1') await drop()
  }
  const { texts, uid, warnings } = await hear(port, { take })
  await expect.poll(uid, often).toBe(2)
  expect(texts()).toEqual(['mail 1', 'mail 2'])
  expect(warnings).toEqual([])
})
