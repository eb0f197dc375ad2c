import type { JsonObject } from '@hermes/contracts'
import type { Command, CommandContext, CommandOutput, CommandSession } from '@hermes/contracts/extension'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  completeLine,
  offeredTo,
  readLine,
  runCommand,
  shownCommand,
  type TypedLine,
  toPlainText,
  unknownLine,
} from './index.js'

const echo = (args: unknown): CommandOutput => ({ type: 'text', text: JSON.stringify(args) })
const properties = (of: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties: of,
  required,
})

const COMMANDS: readonly Command[] = [
  { name: 'help', summary: 'this text', scope: 'anyone', needsSession: false, run: echo },
  {
    name: 'title',
    summary: 'name it',
    scope: 'anyone',
    parameters: properties({ text: { type: 'string', description: 'a name' } }, ['text']),
    run: echo,
  },
  {
    name: 'undo',
    summary: 'take back',
    changes: ['shortened'],
    parameters: properties({ turns: { type: 'integer', minimum: 1, description: 'a number of messages' } }),
    run: echo,
  },
  {
    name: 'model',
    summary: 'change it',
    parameters: properties({ id: { type: 'string' }, dryRun: { type: 'boolean' } }),
    complete: () => ['small', { value: 'smaller', detail: 'cheap' }],
    run: echo,
  },
  {
    name: 'tasks',
    aliases: ['children', 'kids'],
    summary: 'the tasks',
    parameters: properties({
      verb: { type: 'string', enum: ['kill', 'steer'] },
      id: { type: 'string' },
      text: { type: 'string' },
    }),
    run: echo,
  },
  {
    name: 'files',
    summary: 'some',
    parameters: properties({ all: { type: 'boolean' }, paths: { type: 'array', items: { type: 'string' } } }),
    complete: () => {
      throw new Error('broken')
    },
    run: echo,
  },
]

const session = { id: 's' } as CommandSession
const context: CommandContext = {
  caller: { platform: 'test', user: 'ada', isOwner: true, changes: ['shortened'] },
  session,
  cwd: '/',
  commands: COMMANDS,
  notice: () => undefined,
  signal: new AbortController().signal,
}

async function typed(line: string, of: Partial<CommandContext> = {}): Promise<string> {
  const read = readLine(line, COMMANDS)
  if (read.type !== 'command') return read.type
  return toPlainText(await runCommand(read.command, read.args, { ...context, ...of }))
}

describe('a typed line', () => {
  it.each([
    ['/title  A new name ', 'title', 'A new name'],
    ['/kids', 'tasks', ''],
    ['/HELP', 'help', ''],
    ['/mod', 'model', ''],
    ['/title first line\nsecond', 'title', 'first line\nsecond'],
  ])('%j is /%s with %j', (line, name, args) => {
    expect(readLine(line, COMMANDS)).toMatchObject({ type: 'command', command: { name }, args })
  })

  it.each(['hello', '/etc/hosts is wrong', '/tmp is full', '/ alone', 'see /help', ''])(
    '%j is for the model',
    (line) => {
      expect(readLine(line, COMMANDS)).toEqual({ type: 'text' })
    },
  )

  it.each([
    ['/hlep', '/help'],
    ['/modle gpt', '/model'],
    ['/tilte it', '/title'],
    ['/t', null],
    ['/stauts', null],
  ])('%j is unknown, and what is near is named', (line, nearest) => {
    expect(readLine(line, COMMANDS)).toMatchObject({ type: 'unknown', nearest })
  })

  it.each(['/mod crashes', '/t x'])('%j is for the model where only whole names count', (line) => {
    expect(readLine(line, COMMANDS, COMMANDS, { takesBeginnings: false })).toEqual({ type: 'text' })
    expect(readLine('/model x', COMMANDS, COMMANDS, { takesBeginnings: false })).toMatchObject({ type: 'command' })
  })

  it.each([
    ['/save notes.json', 'There is no /save here; instead: hermes sessions export.'],
    ['/Update', '/update is called hermes update here.'],
    ['/pet', 'There is no /pet here: mascots.'],
  ])('%j is answered with what there is instead, or why it is not here', (line, answer) => {
    expect(unknownLine(readLine(line, COMMANDS) as TypedLine & { type: 'unknown' })).toBe(answer)
  })

  it('is for the model where there are no commands', () => {
    expect(readLine('/help', [])).toEqual({ type: 'text' })
  })

  it('never throws, whatever is typed, and what it runs either answers or says in a line what is wrong', async () => {
    const words = fc.constantFrom(
      '/title',
      '/undo',
      '/tasks',
      '/model',
      '/files',
      '--dry-run',
      'kill',
      '2',
      '\n',
      '-',
      '/',
    )
    const line = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(words, fc.string()), { maxLength: 6 }).map((all) => all.join(' ')),
    )
    await fc.assert(
      fc.asyncProperty(line, async (text) => {
        await completeLine(text, context)
        await typed(text).catch((error: { readonly code?: string; readonly message: string }) => {
          expect(error.code).toBe('command.bad_arguments')
          expect(error.message).toMatch(/: \/[a-z]/)
        })
      }),
    )
  })
})

describe('what follows the name', () => {
  it.each([
    ['/undo', '{}'],
    ['/undo 2', '{"turns":2}'],
    ['/model big one --dry-run', '{"dryRun":true,"id":"big one"}'],
    ['/model --dry-run big', '{"dryRun":true,"id":"big"}'],
    ['/model --dry', '{"id":"--dry"}'],
    ['/tasks steer 2 be  quick\nnow', '{"verb":"steer","id":"2","text":"be  quick\\nnow"}'],
    ['/tasks steer "two words" be quick', '{"verb":"steer","id":"two words","text":"be quick"}'],
    ["/tasks steer 'a \"b\"' 'all of it'", '{"verb":"steer","id":"a \\"b\\"","text":"all of it"}'],
    ['/tasks steer "a \\"b" "one" and "two"', '{"verb":"steer","id":"a \\"b","text":"\\"one\\" and \\"two\\""}'],
    ['/tasks steer "open be', '{"verb":"steer","id":"\\"open","text":"be"}'],
    ['/title "of it"', '{"text":"\\"of it\\""}'],
    ['/files a --all  b', '{"all":true,"paths":["a","b"]}'],
    ['/title --all of it', '{"text":"--all of it"}'],
    ['/title __proto__', '{"text":"__proto__"}'],
  ])('%j is %s', async (line, args) => {
    expect(await typed(line)).toBe(args)
  })

  it.each([
    ['/help me', 'It does not take “me”: /help'],
    ['/undo 0', 'It takes a number of messages: /undo [TURNS]'],
    ['/undo two', 'It takes a number of messages: /undo [TURNS]'],
    ['/undo 1 2', 'It does not take “2”: /undo [TURNS]'],
    ['/tasks dance', 'It takes one of kill, steer: /tasks [kill|steer] [ID] [TEXT]'],
  ])('of %j is refused', async (line, message) => {
    await expect(typed(line)).rejects.toThrow(message)
  })

  it('is asked for where it is needed and missing', async () => {
    expect(await typed('/title')).toBe('It needs TEXT: /title TEXT\n1. text: a name')
  })

  it('is asked for also where it has the name of what every object has', async () => {
    const parameters = properties({ constructor: { type: 'string', description: 'who' } }, ['constructor'])
    const output = await runCommand({ name: 'build', summary: 'it', parameters, run: echo }, '', context)
    expect(toPlainText(output)).toBe('It needs CONSTRUCTOR: /build CONSTRUCTOR\n1. constructor: who')
  })

  it('is shown as it is typed', () => {
    expect(COMMANDS.map(shownCommand)).toEqual([
      '/help',
      '/title TEXT',
      '/undo [TURNS]',
      '/model [ID] [--dry-run]',
      '/tasks [kill|steer] [ID] [TEXT]',
      '/files [--all] [PATHS]',
    ])
  })
})

describe('completion', () => {
  it.each([
    ['/ch', ['/help ', '/title ', '/undo ', '/model ', '/children ', '/files ']],
    ['/tasks k', ['kill ', 'steer ']],
    ['/tasks kill k', []],
    ['/model s', ['small ', 'smaller ']],
    ['/model x --', ['--dry-run ', 'small ', 'smaller ']],
    ['/files ', []],
    ['/nothing x', []],
    ['hello /t', []],
  ])('of %j is among %j', async (line, candidates) => {
    expect((await completeLine(line, context)).map(({ text }) => text)).toEqual(candidates)
  })

  it('says what a candidate is, and whether the line can be sent with it', async () => {
    const [help, title] = ['help', 'title'].map(async (name) =>
      (await completeLine('/', context)).find(({ text }) => text === `/${name} `),
    )
    expect(await help).toEqual({ text: '/help ', label: '/help', detail: 'this text', isWhole: true })
    expect(await title).toEqual({ text: '/title ', label: '/title TEXT', detail: 'name it', isWhole: false })
    expect(await completeLine('/model ', context)).toContainEqual({
      text: 'smaller ',
      label: 'smaller',
      detail: 'cheap',
      isWhole: true,
    })
  })
})

describe('who may call a command', () => {
  const names = (caller: Partial<CommandContext['caller']>, of: CommandSession | null = session) =>
    offeredTo({ ...context.caller, ...caller }, of, COMMANDS).map(({ name }) => name)

  it('is the owner, unless the command is for anyone; where a change cannot be made nobody is', () => {
    expect(names({})).toEqual(['files', 'help', 'model', 'tasks', 'title', 'undo'])
    expect(names({ isOwner: false })).toEqual(['help', 'title'])
    expect(names({ changes: [] })).toEqual(['files', 'help', 'model', 'tasks', 'title'])
    expect(names({}, null)).toEqual(['help'])
  })

  it('is checked when it is called, however it was found', async () => {
    const caller = { ...context.caller, isOwner: false }
    await expect(typed('/model x', { caller })).rejects.toMatchObject({ code: 'command.not_offered' })
    await expect(typed('/title x', { session: null })).rejects.toMatchObject({ code: 'command.not_offered' })
    expect(await typed('/title x', { caller })).toBe('{"text":"x"}')
  })
})

it('lines tables up where characters take two columns', () => {
  const rows = [{ cells: ['漢字', 'x'] }, { cells: ['🎉', 'y'] }, { cells: ['abcd', 'z'] }]
  expect(toPlainText([{ type: 'table', empty: '', rows }])).toBe('- 漢字  x\n- 🎉    y\n- abcd  z')
})

it('is shown as plain text, choices and forms numbered with what to type', () => {
  const outputs: readonly CommandOutput[] = [
    { type: 'text', text: 'Here:' },
    { type: 'table', empty: 'Nothing.', rows: [] },
    { type: 'table', empty: '', rows: [{ cells: ['a', 'bb\nc'], isCurrent: true }, { cells: ['long', ''] }] },
    { type: 'choice', question: 'Which?', options: [{ label: 'One', line: '/model one' }] },
    { type: 'change', change: { type: 'leave' } },
  ]
  expect(toPlainText(outputs)).toBe('Here:\nNothing.\n* a     bb c\n- long\nWhich?\n1. One: /model one')
})
