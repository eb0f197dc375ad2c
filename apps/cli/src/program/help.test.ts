// The help of every command in one walk: it is there, shows how the command is used, and what it shows is understood.
import { join } from 'node:path'
import { createSessionId } from '@hermes/agent-core'
import { HermesError } from '@hermes/contracts'
import { PendingFiles } from '@hermes/files'
import { createPairings } from '@hermes/platform'
import { createFakeClock, temporaryHome } from '@hermes/testkit'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
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

/** The lines of its examples. */
function examplesOf(command: Command): readonly string[] {
  return /Examples:\n((?: {2}\S.*(?:\n|$))+)/.exec(helpOf(command))?.[1]?.trimEnd().split('\n') ?? []
}

it('every command has help that says what it does and shows how it is used', async () => {
  const commands = commandsBelow(buildProgram(() => undefined, io))
  expect(commands.length).toBeGreaterThan(200)
  const wrong: string[] = []
  for (const command of commands) {
    const help = helpOf(command)
    const lines = examplesOf(command)
    if (!help.startsWith('Usage: hermes') || command.description() === '') wrong.push(`${nameOf(command)}: no help`)
    if (lines.length === 0) wrong.push(`${nameOf(command)}: no example`)
    for (const { flags, defaultValue, variadic, parseArg } of command.options)
      if (Array.isArray(defaultValue) && !variadic && !parseArg)
        wrong.push(`${nameOf(command)}: ${flags} is one text where it is used, and a list where it is not`)
    for (const line of lines) {
      const count = await chosenBy(line.trim()).catch((error: unknown) => String(error))
      if (count !== 1) wrong.push(`${nameOf(command)}: ${line.trim()}: ${count}`)
    }
  }
  expect(wrong).toEqual([])
})

/** Arguments that name something Hermes made up itself, by command and argument, with what their owner takes for one. */
const IDS: readonly (readonly [command: RegExp, pattern: RegExp])[] = [
  // Changes of skills, failures and notes have ids of their own.
  [/^(learn|journey) \w+ <id>$/, /^([0-9a-f]{6}|m[0-9a-f]{6}|l\d+)$/],
  [/^(memory|skills) (approve|reject|diff) <id>$/, /^([0-9a-f]{6}|all)$/],
  [/^skills accept <id>$/, /^[0-9a-f]{6}$/],
  [/^learning \w+ <id>$/, /^#?\d+$/],
  // A unique start is enough.
  [/^approvals \w+ <id>$/, /^[0-9a-f]{4,8}$/],
  [/^(sessions|prompt) \w+ <(session|a|b)>$/, /^\d{8}(_\d{6}_[0-9a-f]{6})?$/],
  [/^checkpoints \w+ <checkpoint>$/, /^\d+$/],
  [/^pairing approve <code>$/, /^[A-HJ-NP-Z2-9]{8}$/],
]
const MADE_UP = /<(id|code|checkpoint|session|a|b)>$/

const patternOf = (place: string) => IDS.find(([command]) => command.test(place))?.[1]

it('what examples call by an id or a code is what the owner of it takes', async () => {
  const wrong: string[] = []
  const lines = commandsBelow(buildProgram(() => undefined, io)).flatMap(examplesOf)
  for (const line of new Set(lines.map((text) => text.trim()))) {
    const program = buildProgram(() => undefined, io).hook('preAction', (_, command) => {
      for (const [index, argument] of command.registeredArguments.entries()) {
        const place = `${nameOf(command).slice('hermes '.length)} <${argument.name()}>`
        const words = command.args.slice(index, argument.variadic ? undefined : index + 1)
        const pattern = patternOf(place)
        if (MADE_UP.test(place) && pattern === undefined) wrong.push(`${place}: no pattern`)
        wrong.push(...words.filter((word) => pattern?.test(word) === false).map((word) => `${line}: ${word}, ${place}`))
      }
    })
    const words = wordsOf(line)
    if (words[0] === 'gateway' || words[0] === 'acp') continue
    await program.parseAsync(
      words.filter((word) => word !== '-p' && word !== 'NAME'),
      { from: 'user' },
    )
  }
  expect(wrong).toEqual([])
})

it('owners of ids and codes make them as examples show them', async () => {
  const { path, remove } = await temporaryHome()
  onTestFinished(remove)
  const none = () => new HermesError('None.', { code: 'test.none' })
  const pending = new PendingFiles(join(path, 'pending'), { read: () => null, tooMany: none, unknown: none })
  const pairings = createPairings({ folder: join(path, 'pairing'), clock: createFakeClock() })
  expect((await pending.add({ atMs: 1 })).id).toMatch(patternOf('skills approve <id>')!)
  expect(await pairings.request('telegram', { id: '7', name: 'Ada' })).toMatch(patternOf('pairing approve <code>')!)
  expect(createSessionId(0)).toMatch(patternOf('sessions show <session>')!)
})
