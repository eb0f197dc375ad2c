// The help of every command in one walk: it is there, shows how the command is used, and what it shows is understood.
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Io } from '../io.js'
import { buildProgram } from '../program.js'

// The bundler writes it.
beforeAll(() => void vi.stubGlobal('__HERMES_VERSION__', '0.0.0'))
afterAll(() => void vi.unstubAllGlobals())

let written = ''
const io = { stdout: { write: (text: string) => void (written += text), columns: () => 100 }, env: {} } as unknown as Io

const commandsBelow = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsBelow)]
const nameOf = (command: Command): string => (command.parent ? `${nameOf(command.parent)} ${command.name()}` : 'hermes')

function helpOf(command: Command): string {
  written = ''
  command.outputHelp()
  return written
}

/** The words of a line of a shell, without what stands before a pipe and without the comment behind two spaces. */
function wordsOf(line: string): readonly string[] {
  const words = /^(?:.*\| )?hermes ?((?:'[^']*'|"[^"]*"|\S+| (?! ))*)/.exec(line)![1]!
  return [...words.matchAll(/'([^']*)'|"([^"]*)"|\S+/g)].map(([word, single, double]) => single ?? double ?? word)
}

/** How often a line chooses a command. */
async function chosenBy(line: string): Promise<number> {
  let count = 0
  const words = wordsOf(line)
  const [name] = words
  // These are started as programs of their own before this table is read.
  if (name === 'gateway' || name === 'acp') return 1
  await buildProgram(() => void count++, io).parseAsync(
    words.filter((word) => word !== '-p' && word !== 'NAME'),
    { from: 'user' },
  )
  return count
}

it('every command has help that says what it does and shows how it is used', async () => {
  const commands = commandsBelow(buildProgram(() => undefined, io))
  expect(commands.length).toBeGreaterThan(200)
  const wrong: string[] = []
  for (const command of commands) {
    const help = helpOf(command)
    const lines = /Examples:\n((?: {2}\S.*(?:\n|$))+)/.exec(help)?.[1]?.trimEnd().split('\n') ?? []
    if (!help.startsWith('Usage: hermes') || command.description() === '') wrong.push(`${nameOf(command)}: no help`)
    if (lines.length === 0) wrong.push(`${nameOf(command)}: no example`)
    for (const line of lines) {
      const count = await chosenBy(line.trim()).catch((error: unknown) => String(error))
      if (count !== 1) wrong.push(`${nameOf(command)}: ${line.trim()}: ${count}`)
    }
  }
  expect(wrong).toEqual([])
})
