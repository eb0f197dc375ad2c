import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Io, Output } from '../io.js'
import type { Console } from './console.js'
import { openTerminalConsole } from './terminal-console.js'

const APPROVAL = {
  title: 'Really?',
  options: [
    { label: 'yes', key: 'y' },
    { label: 'no', key: 'n' },
  ],
  freeText: false,
}

let written: string
let happened: string[]
let keys: PassThrough
let console: Console

beforeEach(() => {
  vi.useFakeTimers()
  written = ''
  happened = []
  keys = new PassThrough()
  const stdin = Object.assign(keys, { isTTY: true, setRawMode: (on: boolean) => happened.push(`raw ${on}`) })
  const terminal: Output = {
    ...{ isTTY: true, colors: false, columns: () => 40, rows: () => 10, onResize: () => () => undefined },
    write: (text) => (written += text),
  }
  console = openTerminalConsole({
    io: { stdin: stdin as unknown as Io['stdin'] },
    terminal,
    handlers: {
      onLine: ({ text, how }) => happened.push(`${how} ${text}`),
      onInterrupt: () => happened.push('interrupt'),
      onEnd: () => happened.push('end'),
    },
    input: { sources: { complete: async () => [], cwd: '/', userHome: '/' }, history: [] },
  })
  console.setStatus(null)
  happened = []
})
afterEach(() => void vi.useRealTimers())

/** Types, and lets the keys arrive. */
async function type(text: string): Promise<void> {
  keys.write(text)
  await vi.advanceTimersByTimeAsync(1)
}

describe('openTerminalConsole', () => {
  it('hands over lines, interrupts and the end', async () => {
    await type('one\rtwo\u001Bs\u0003\u0004')
    expect(happened).toEqual(['enter one', 'steer two', 'interrupt', 'end'])
  })

  it('takes a lone escape for the key after a moment, and a sequence that comes in pieces for what it is', async () => {
    const answer = console.pick(APPROVAL)
    await type('\u001B')
    await type('[B')
    await type('\r')
    expect(await answer).toEqual({ type: 'option', index: 1 })
    const other = console.pick(APPROVAL)
    await type('\u001B')
    await vi.advanceTimersByTimeAsync(60)
    expect(await other).toEqual({ type: 'none' })
  })

  it('does not take what is being typed for an answer', async () => {
    await type('sa')
    const answer = console.pick(APPROVAL)
    await type('y\r')
    expect(happened).toEqual(['enter say'])
    await vi.advanceTimersByTimeAsync(1000)
    await type('n')
    expect(await answer).toEqual({ type: 'option', index: 1 })
  })

  it('answers at once when nothing is being typed, and asks one question after the other', async () => {
    const [first, second] = [console.pick(APPROVAL), console.pick({ ...APPROVAL, title: 'And this?' })]
    expect(stripVTControlCharacters(written)).not.toContain('And this?')
    await type('y')
    expect(await first).toEqual({ type: 'option', index: 0 })
    expect(stripVTControlCharacters(written)).toContain('And this?')
    await type('n')
    expect(await second).toEqual({ type: 'option', index: 1 })
  })

  it('answers none when a question is taken back, interrupted or the console closes', async () => {
    const controller = new AbortController()
    const [taken, interrupted, closed] = [
      console.pick(APPROVAL, controller.signal),
      console.pick(APPROVAL),
      console.pick(APPROVAL),
    ]
    controller.abort()
    await type('\u0003')
    expect(happened).toEqual(['interrupt'])
    console.close()
    expect(await Promise.all([taken, interrupted, closed])).toEqual([
      { type: 'none' },
      { type: 'none' },
      { type: 'none' },
    ])
    expect(await console.pick(APPROVAL, controller.signal)).toEqual({ type: 'none' })
  })

  it('gives the terminal back: no raw mode, no bracketed paste, cursor shown', () => {
    console.close()
    expect(happened).toEqual(['raw false'])
    expect(written.endsWith('\u001B[?2004l\u001B[?25h')).toBe(true)
  })
})
