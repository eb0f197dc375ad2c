import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TerminalSignals } from './terminal-signals.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function signals(env: Readonly<Record<string, string>> = {}, bellAfterMs = 30_000) {
  let written = ''
  let frames = 0
  const made = new TerminalSignals(
    { env, bellAfterMs },
    (text) => (written += text),
    () => frames++,
  )
  const taken = () => {
    const text = written
    written = ''
    return text.replaceAll('\u001B', 'ESC').replaceAll('\u0007', 'BEL')
  }
  return { made, taken, frames: () => frames }
}

it('names the window after the session, marks it while a turn is under way, and gives the old name back', () => {
  const { made, taken } = signals()
  made.open()
  expect(taken()).toBe('ESC[22;0tESC[?1004hESC]7501;?BELESC[?2026$p')
  made.setTitle('Garden\u001B]52;c;eA==\u0007 \u0007bed')
  made.setTitle('Garden\u001B]52;c;eA==\u0007 \u0007bed')
  expect(taken()).toBe('ESC]2;Garden bedBEL')
  made.setBusy(true)
  expect(taken()).toBe('ESC]2;* Garden bedBEL')
  made.close()
  expect(taken()).toBe('ESC[?1004lESC[23;0t')
})

it('tells terminals that know it that something is under way, and the Linux console nothing it would print', () => {
  const { made, taken } = signals({ TERM_PROGRAM: 'ghostty' })
  made.setBusy(true)
  made.setBusy(true)
  made.setBusy(false)
  expect(taken()).toBe('ESC]9;4;3BELESC]9;4;0BEL')
  const linux = signals({ TERM: 'linux' })
  linux.made.open()
  linux.made.setTitle('Garden')
  linux.made.setBusy(true)
  linux.made.close()
  expect(linux.taken()).toBe('ESC[?1004hESC[?1004l')
})

it('reports what it is at to a terminal that answered that it keeps such reports, and asks once', () => {
  const { made, taken } = signals()
  const report = (state: string) => `ESC]7501;state=${state}:app=hermesBEL`
  made.open()
  made.setBusy(true)
  made.setWaiting(true)
  expect(taken()).toBe('ESC[22;0tESC[?1004hESC]7501;?BELESC[?2026$p')
  made.read('x\u001B]7501;?\u001B\\y')
  expect(taken()).toBe(report('blocked:kind=question'))
  made.setWaiting(false)
  made.setWaiting(false)
  made.setBusy(false)
  expect(taken()).toBe(report('working') + report('idle'))
  made.close()
  expect(taken()).toBe('ESC[?1004lESC]7501;state=clearBELESC[23;0t')
  made.open()
  expect(taken()).toBe(`ESC[22;0tESC[?1004h${report('idle')}`)
})

it('says that frames are shown as a whole where the terminal says so, set or not set', () => {
  const { made, frames } = signals()
  made.open()
  for (const answer of ['0', '3', '4']) made.read(`\u001B[?2026;${answer}$y`)
  expect(frames()).toBe(0)
  made.read('a\u001B[?2026;2$y')
  made.read('\u001B[?2026;1$yb')
  expect(frames()).toBe(2)
})

it('rings when a long turn ends and nobody looks', () => {
  const { made, taken } = signals()
  const turn = (ms: number) => {
    made.setBusy(true)
    vi.advanceTimersByTime(ms)
    made.setBusy(false)
    return taken()
  }
  expect([turn(29_000), turn(31_000)]).toEqual(['', 'BEL'])
  made.read('\u001B[I')
  expect(turn(60_000)).toBe('')
  made.read('\u001B[I\u001B[O')
  expect(turn(60_000)).toBe('BEL')
})

it('rings for a question once no key came for as long, and never where that is off', () => {
  const { made, taken } = signals()
  made.ask()
  expect(taken()).toBe('')
  vi.advanceTimersByTime(40_000)
  made.ask()
  expect(taken()).toBe('BEL')
  made.read('x')
  made.ask()
  expect(taken()).toBe('')
  const off = signals({}, 0)
  vi.advanceTimersByTime(1_000_000)
  off.made.ask()
  expect(off.taken()).toBe('')
})
