import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { commandFirst, unknownPart } from './command-line.js'
import type { Io } from './io.js'
import { addChat, createProgram } from './program/chat.js'
import { buildProgram } from './program.js'

// The bundler writes it.
beforeAll(() => void vi.stubGlobal('__HERMES_VERSION__', '0.0.0'))
afterAll(() => void vi.unstubAllGlobals())

const io = { stdout: { write: () => undefined } } as unknown as Io
const arranged = (...argv: readonly string[]) => {
  const chat = createProgram(io)
  addChat(chat, () => undefined)
  return commandFirst(argv, { chat, table: async () => buildProgram(() => undefined, io) })
}

describe('a command line', () => {
  it.each([
    [['what is this project?'], ['chat', 'what is this project?']],
    [
      ['-m', 'm', 'what is this?', '--json'],
      ['chat', '-m', 'm', 'what is this?', '--json'],
    ],
    [
      ['--', 'why'],
      ['chat', '--', 'why'],
    ],
    [
      ['--yolo', '--', '-x'],
      ['chat', '--yolo', '--', '-x'],
    ],
    [
      ['-c', '-q', 'sessions'],
      ['-c', '-q', 'sessions'],
    ],
    [
      ['-r', 'sessions'],
      ['-r', 'sessions'],
    ],
    [['--help'], ['--help']],
    [
      ['-m', 'm', 'chat', '-q', 'x'],
      ['chat', '-q', 'x', '-m', 'm'],
    ],
    [
      ['--json', 'sessions', 'list', '-n', '2'],
      ['sessions', 'list', '-n', '2', '--json'],
    ],
    [
      ['--limit', '5', 'sessions'],
      ['sessions', '--limit', '5'],
    ],
    [
      ['--port', '0', 'gateway'],
      ['gateway', '--port', '0'],
    ],
    [
      ['--model', 'm', 'gateway', '--', 'x'],
      ['gateway', '--model', 'm', '--', 'x'],
    ],
    [
      ['--help', 'sessions'],
      ['sessions', '--help'],
    ],
  ] as const)('%j has its command first', async (input, expected) => {
    expect(await arranged(...input)).toEqual(expected)
  })

  it('names the nearest command for a word that is none, and how to ask', async () => {
    await expect(arranged('--json', 'sesions')).rejects.toThrow(
      'Unknown command "sesions". Did you mean sessions? To ask the agent: hermes chat sesions',
    )
    await expect(arranged('--json', 'frobnicate')).rejects.toThrow(
      /Valid commands: chat, .*, help\. To ask the agent: hermes chat frobnicate$/,
    )
    await expect(arranged('--json', 'login')).rejects.toThrow('hermes login is called auth add here.')
    expect(unknownPart('auth', 'logout', 'add')).toBe('hermes auth logout is called auth remove here.')
  })
})
