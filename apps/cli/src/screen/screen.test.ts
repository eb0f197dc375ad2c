import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { graphemes, width } from '../editor/graphemes.js'
import type { Output } from '../io.js'
import { createScreen, type Footer } from './screen.js'

/** A terminal small enough to be checked by eye: rows that scroll, a cursor, and the sequences the screen uses. */
class FakeTerminal implements Output {
  readonly isTTY = true
  readonly colors = true
  readonly #columns: number
  readonly #rows: number
  lines: string[][] = [[]]
  row = 0
  column = 0
  frames = 0

  constructor(columns: number, rows: number) {
    this.#columns = columns
    this.#rows = rows
  }

  columns = () => this.#columns
  rows = () => this.#rows
  onResize = () => () => undefined

  write(text: string): void {
    this.frames++
    for (const [piece, parameter, final] of text.matchAll(/\u001B\[([?0-9;]*)([A-Za-z])|\r|\n|[^\u001B\r\n]+/g)) {
      if (final !== undefined) this.#obey(final, Number(parameter) || 1)
      else if (piece === '\r') this.column = 0
      else if (piece === '\n') this.#down()
      else for (const character of graphemes(piece)) this.#put(character)
    }
  }

  #obey(final: string, count: number): void {
    // A real terminal cannot go above its first row; what has scrolled away stays as it is.
    if (final === 'A') this.row = Math.max(this.row - count, this.lines.length - this.#rows, 0)
    if (final === 'B') this.row = Math.min(this.row + count, this.lines.length - 1)
    if (final === 'C') this.column = Math.min(this.column + count, this.#columns - 1)
    if (final === 'K' || final === 'J') this.#line().length = Math.min(this.#line().length, this.column)
    if (final === 'J' && this.row + this.column === 0) throw new Error('tmux would keep what is erased here')
    if (final === 'J') this.lines.length = this.row + 1
    // What is pushed over the lower edge is gone.
    if (final === 'L') this.lines.splice(this.row, 0, ...Array.from({ length: count }, () => []))
    if (final === 'L') this.lines.splice(this.lines.length - count, count)
  }

  #put(character: string): void {
    const taken = width(character)
    if (this.column + taken > this.#columns) {
      this.column = 0
      this.#down()
    }
    const line = this.#line()
    while (line.length < this.column) line.push(' ')
    line.splice(this.column, taken, character, ...Array.from({ length: taken - 1 }, () => ''))
    this.column += taken
  }

  #down(): void {
    this.row++
    if (this.row === this.lines.length) this.lines.push([])
  }

  #line(): string[] {
    return this.lines[this.row]!
  }

  text(): string {
    return this.lines.map((line) => line.join('').trimEnd()).join('\n')
  }
}

const footer = (...rows: string[]): Footer => ({ rows, cursor: { row: rows.length - 1, column: 2 } })

describe('createScreen', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('writes output above the footer, and goes on in a line that has no end yet', () => {
    const terminal = new FakeTerminal(20, 10)
    const screen = createScreen(terminal)
    screen.setFooter(footer('> '))
    screen.output.write('Hel')
    vi.runAllTimers()
    expect(terminal.text()).toBe('Hel\n>')
    screen.output.write('lo.\nNext')
    vi.runAllTimers()
    screen.setFooter(footer('busy', '> x'))
    screen.output.write(' line')
    vi.runAllTimers()
    expect(terminal.text()).toBe('Hello.\nNext line\nbusy\n> x')
    screen.setFooter(footer('> '))
    screen.close()
    expect(terminal.text()).toBe('Hello.\nNext line\n')
  })

  it('gathers a burst into one frame and draws the footer at once', () => {
    const terminal = new FakeTerminal(20, 10)
    const screen = createScreen(terminal)
    for (let line = 0; line < 100; line++) screen.output.write(`line ${line}\n`)
    screen.setFooter(footer('> a'))
    expect(terminal.text()).toBe('> a')
    vi.runAllTimers()
    expect(terminal.frames).toBe(2)
    expect(terminal.text().split('\n')).toHaveLength(101)
  })

  it('moves the footer down for some words, rather than drawing it again', () => {
    const terminal = new FakeTerminal(40, 10)
    const screen = createScreen(terminal)
    screen.setFooter(footer('a status of some length', 'a row of the same kind', '> '))
    const sizes: number[] = []
    const write = terminal.write.bind(terminal)
    terminal.write = (text) => {
      sizes.push(text.length)
      write(text)
    }
    for (const words of ['One ', 'two ', 'three\nfour ', 'five\n', '\n', '\u001B[1msix\u001B[22m']) {
      screen.output.write(words)
      vi.runAllTimers()
    }
    expect(terminal.text()).toBe('One two three\nfour five\n\nsix\na status of some length\na row of the same kind\n>')
    expect(Math.max(...sizes)).toBeLessThan(80)
  })

  it('writes a flood over several frames, whole lines each', () => {
    const terminal = new FakeTerminal(20, 10)
    const screen = createScreen(terminal)
    screen.output.write('0123456789abcde\n'.repeat(5000))
    vi.advanceTimersByTime(17)
    expect(terminal.text().split('\n').length).toBeLessThan(1100)
    expect(terminal.text().endsWith('e\n')).toBe(true)
    screen.close()
    expect(terminal.text().split('\n')).toHaveLength(5001)
  })

  it('keeps every character of the output in its place, whatever the footer does', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.array(fc.constantFrom('a', 'b ', '日', '👩‍👩‍👧', 'é', '\n', 'longer words '), { maxLength: 12 }),
        fc.integer({ min: 0, max: 4 }),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(pieces, fc.integer({ min: 4, max: 20 }), (steps, columns) => {
        const terminal = new FakeTerminal(columns, 12)
        const plain = new FakeTerminal(columns, 12)
        const screen = createScreen(terminal)
        let rows: readonly string[] = []
        for (const step of steps) {
          if (typeof step === 'number') rows = Array.from({ length: step }, () => '>')
          if (typeof step === 'number') screen.setFooter(footer(...Array.from({ length: step }, () => '> ')))
          else {
            screen.output.write(step.join(''))
            plain.write(step.join('').replaceAll('\n', '\r\n'))
            vi.advanceTimersByTime(40)
          }
          if (rows.length === 0) continue
          const above = plain.column > 0 ? `${plain.text()}\n` : plain.text()
          const shown = `${above}${rows.join('\n')}`
          expect(terminal.text().trimEnd()).toBe(shown)
          expect([terminal.row, terminal.column]).toEqual([shown.split('\n').length - 1, 2])
        }
        screen.close()
        expect(terminal.text().trimEnd()).toBe(plain.text().trimEnd())
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 300) },
    )
  })
})

it('writes by itself once a frame has passed', async () => {
  const terminal = new FakeTerminal(20, 10)
  const screen = createScreen(terminal)
  screen.output.write('there\n')
  while (terminal.frames === 0) await sleep(1)
  expect(terminal.text()).toBe('there\n')
  screen.close()
})

it('marks frames once the terminal has said that it shows such a one as a whole, and none before', () => {
  const written: string[] = []
  const terminal = new FakeTerminal(20, 10)
  terminal.write = (text) => void written.push(text)
  const screen = createScreen(terminal)
  screen.setFooter(footer('> a'))
  expect(written.join('')).not.toContain('?2026')
  screen.markFrames()
  screen.setFooter(footer('> b'))
  expect(written.at(-1)).toMatch(/^\u001B\[\?2026h.*> b.*\u001B\[\?2026l$/su)
  screen.close()
})
