import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFileFinder } from '../editor/file-finder.js'
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
let whileEditing: () => void

beforeEach(() => {
  vi.useFakeTimers()
  written = ''
  happened = []
  whileEditing = () => undefined
  open({
    input: {
      sources: {
        complete: async () => [],
        files: createFileFinder(async function* () {}),
        sessions: async () => [],
        cwd: '/',
        userHome: '/',
      },
      history: [],
      editText: async (text) => {
        await Promise.resolve()
        whileEditing()
        return { text: `${text}, edited`, problem: 'It was slow.' }
      },
    },
  })
  console.setStatus(null)
  happened = []
})
afterEach(() => void vi.useRealTimers())

function open(input: Pick<Parameters<typeof openTerminalConsole>[0], 'input'>): void {
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
      onStop: () => happened.push('stop'),
      onEnd: () => happened.push('end'),
    },
    keys: new Map([
      ['ctrl+o', 'ctrl+r'],
      ['ctrl+w', ''],
      ['ctrl+k>e', 'alt+s'],
    ]),
    ...input,
  })
  happened = []
}

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

  it('takes one key after another for the one that they stand for', async () => {
    await type('one\u000Be')
    await type('two\u000B')
    await type('x\r')
    expect(happened).toEqual(['steer one', 'enter twox'])
  })

  it('leaves the terminal alone when it was closed while the line was edited elsewhere', async () => {
    whileEditing = () => console.close()
    await type('one\u0007')
    expect(happened.at(-1)).toBe('raw false')
    expect(written.endsWith('\u001B[?25h')).toBe(true)
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

  it('stops what is under way with Escape, and edits elsewhere with the terminal given away', async () => {
    await type('line')
    await type('\u001B')
    await vi.advanceTimersByTimeAsync(60)
    await type('\u0007')
    await vi.advanceTimersByTimeAsync(60)
    await type('\r')
    expect(happened).toEqual(['stop', 'raw false', 'raw true', 'enter line, edited'])
    expect(written).toContain('It was slow.')
  })

  it('hands a text to the clipboard of the terminal, unless terminals would drop it', () => {
    expect(console.copy('two\nlines')).toMatch(/^Handed 2 lines/)
    expect(written).toContain(`\u001B]52;c;${Buffer.from('two\nlines').toString('base64')}\u0007`)
    expect(console.copy('x'.repeat(60_000))).toMatch(/^That is too long/)
  })

  it('searches earlier lines, with the key that the person has for it, and puts the one taken into the line', async () => {
    await type('water the plants\r')
    await type('feed the cat\r')
    await type('not\u0017\u000Fplan')
    expect(stripVTControlCharacters(written)).toContain('1 of 2')
    // Keys that come together.
    await type('\r!\r')
    expect(happened.at(-1)).toBe('enter water the plants!')
    await type('a word\u0017\r')
    expect(happened.at(-1)).toBe('enter a word')
  })

  it('does not send a line with the Enter that took composed characters', async () => {
    await type('\u6771\u4EAC\r')
    expect(happened).toEqual([])
    await type('\r')
    expect(happened).toEqual(['enter \u6771\u4EAC'])
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

  it('gives what is typed ahead of a question to that question, and stops by keys, where there is no line', async () => {
    console.close()
    open({})
    const first = console.pick(APPROVAL)
    const second = first.then(() => console.pick({ title: 'Its name', options: [], freeText: true }))
    await type('\u001B[B\rgroq\r')
    await type('')
    expect(await Promise.all([first, second])).toEqual([
      { type: 'option', index: 1 },
      { type: 'text', text: 'groq' },
    ])
    await type('\u0003')
    await type('\u001B')
    await vi.advanceTimersByTimeAsync(100)
    expect(happened).toEqual(['interrupt', 'stop'])
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
