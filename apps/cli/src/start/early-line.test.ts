import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { openEarlyLine } from './early-line.js'

/** A program in a terminal of 20 columns, and what it did there. */
function start(argv: readonly string[], { isTTY = true, TERM = 'xterm' } = {}) {
  const keys = new PassThrough()
  let screen = ''
  const did: string[] = []
  const exits: (() => void)[] = []
  const stdin = Object.assign(keys, { isTTY, setRawMode: (on: boolean) => did.push(on ? 'raw' : 'cooked') })
  const host = {
    argv: ['node', 'hermes', ...argv],
    env: { TERM },
    pid: 1,
    stdin,
    stdout: { isTTY, columns: 20, write: (text: string) => void (screen += text) },
    stderr: { isTTY },
    kill: (_pid: number, signal: string) => did.push(signal),
    once: (_event: string, handler: () => void) => exits.push(handler),
    off: () => undefined,
  }
  const early = openEarlyLine(host as unknown as NodeJS.Process)
  return {
    early,
    did,
    exits,
    press: async (data: string | Buffer) => {
      keys.write(data)
      await new Promise((resolve) => setImmediate(resolve))
    },
    shown: () => screen.replaceAll(/\u001B\[\?2004[hl]/g, ''),
  }
}

it('is there for a conversation in a terminal alone', () => {
  for (const argv of [[], ['-c'], ['-m', 'some-model'], ['chat', '-r', 'Title'], ['--yolo', '--plan'], ['-p', 'work']])
    expect(start(argv).early, argv.join(' ')).not.toBeNull()
  for (const argv of [
    ['sessions'],
    ['-q', 'x'],
    ['-cq', 'x'],
    ['--query=x'],
    ['-z', 'x'],
    ['chat', '--help'],
    ['-V'],
    ['--json'],
    ['Fix the tests.'],
    ['-m', 'x', 'Fix it.'],
  ])
    expect(start(argv).early, argv.join(' ')).toBeNull()
  expect(start([], { isTTY: false }).early).toBeNull()
  expect(start([], { TERM: 'dumb' }).early).toBeNull()
})

it('shows plain letters within one row, and keeps every key', async () => {
  const { early, press, shown } = start([])
  await press('\u007Fhi\u007Fé')
  expect(shown()).toBe('> hi\b \bé')
  await press('x'.repeat(40))
  expect(shown()).toBe(`> hi\b \bé${'x'.repeat(15)}`)
  await press('\u007F\r\u001B[A')
  early!.hide()
  const hidden = shown()
  expect(hidden.endsWith('\r\u001B[K')).toBe(true)
  await press('later')
  early!.end()
  await press('not ours')
  expect(shown()).toBe(hidden)
  expect(early!.take().join('')).toBe(`\u007Fhi\u007Fé${'x'.repeat(40)}\u007F\r\u001B[Alater`)
  expect(early!.take()).toEqual([])
})

it('shows nothing behind a key that is no letter, and no control character of a paste', async () => {
  for (const key of ['\u001B[D', '\r', '日', '\u009B', '\u0301']) {
    const { early, press, shown } = start([])
    await press('a')
    for (const byte of Buffer.from(key)) await press(Buffer.from([byte]))
    await press('b\u007F')
    expect(shown()).toBe('> a')
    expect(early!.take().join('')).toBe(`a${key}b\u007F`)
  }
})

it('gives the terminal back once, at the end of the process too, and an interrupt is one', async () => {
  const { early, did, exits, press, shown } = start([])
  await press('draft\u0003')
  expect(did).toEqual(['raw', 'SIGINT'])
  exits[0]!()
  early!.end()
  expect(did).toEqual(['raw', 'SIGINT', 'cooked'])
  expect(shown().split('\u001B[K')).toHaveLength(2)
})
