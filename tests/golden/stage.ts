// Where a recorded session happens: a scripted model, a home and a folder of its own, and a list of what was seen.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CapturedRequest, type ModelServer, type ModelStep, startModelServer } from '@hermes/testkit'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, expect, it } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'
import { openTerminal, type Terminal } from '../support/terminal.js'
import { compareGolden, goldenNames } from './golden.js'
import { createNormaliser } from './normalise.js'
import { foldLongTexts } from './parts.js'
import { requestLines } from './requests.js'

/** Where a session happens and what is recorded of it. */
export interface Stage {
  readonly server: ModelServer
  readonly home: string
  readonly cwd: string
  /** Around home and cwd. Its length never changes, so that lines break where they did. */
  readonly folder: string
  /** Answers in this order. Calls get ids and answers token counts that depend on nothing but the conversation. */
  script(...turns: readonly ModelStep[]): void
  /** Answers what no script covers. */
  answer(handler: (request: CapturedRequest) => ModelStep | Promise<ModelStep>): void
  /** Writes `config.yaml`. */
  config(settings: object): Promise<void>
  /** Writes a file in the working folder. */
  put(path: string, text: string): Promise<void>
  /** Runs `hermes` and records what it printed: with `--json` each line is an event. */
  hermes(...args: readonly string[]): Promise<CliResult>
  /** `hermes chat` with the scripted model. */
  chat(...args: readonly string[]): Promise<CliResult>
  /** A conversation in a terminal; records its screen after `play` and the exit code once it was left with Ctrl-D. */
  terminal(args: readonly string[], play: (person: Person) => Promise<void>, options?: TerminalChoices): Promise<void>
  /** Adds lines under a title. */
  record(title: string, lines: readonly string[]): void
}

/** Who sits at a terminal. */
export interface Person extends Terminal {
  /** Types a line and presses Enter. */
  say(line: string): Promise<void>
}

interface TerminalChoices {
  /** Asks a model for titles and summaries, as the product does by itself. */
  readonly titles?: boolean
  /** How it is left. Default Ctrl-D; `killed` when `play` ends it. */
  readonly ends?: 'killed'
}

/** Environment of every program: clocks and widths that are the same everywhere. */
export const ENV = { TZ: 'UTC' }

const COLUMNS = 100
const ROWS = 50

/** Without one of these, sessions go another way: commands are not isolated, searches are slow, nobody sits at a terminal. */
const declare = needs(missingPrograms('bwrap', 'rg', 'tmux'))

/** Declares sessions of one entry point; a golden file that none of them wrote is named at the end. */
export function goldenSessions(entryPoint: string) {
  const names: string[] = []
  afterAll(() => expect(goldenNames(entryPoint)).toEqual(names.toSorted()))
  return (name: string, play: (stage: Stage) => Promise<void>): void => {
    names.push(name)
    declare(`${entryPoint}: ${name.replaceAll('-', ' ')}`, () =>
      it('goes as it was recorded', () => compare(entryPoint, name, play)),
    )
  }
}

async function compare(entryPoint: string, name: string, play: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp('/tmp/hermes-golden-')
  const server = await startModelServer()
  try {
    const stage = await createStage(folder, server)
    await play(stage)
    expect([...server.violations, ...stage.unanswered]).toEqual([])
    compareGolden(`${entryPoint}/${name}`, stage.lines())
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

interface RecordedStage extends Stage {
  /** Requests that no script covered. */
  readonly unanswered: readonly string[]
  /** What was seen, as it stands in a golden file. */
  lines(): readonly string[]
}

async function createStage(folder: string, server: ModelServer): Promise<RecordedStage> {
  const [home, cwd] = [join(folder, 'user', '.hermes'), join(folder, 'work')]
  await mkdir(home, { recursive: true, mode: 0o700 })
  await mkdir(cwd)
  const recorded: string[] = []
  const script: ModelStep[] = []
  const unanswered: string[] = []
  const calls = new Map<string, number>()
  let handler: ((request: CapturedRequest) => ModelStep | Promise<ModelStep>) | null = null
  server.setHandler(async (request) => {
    const turn = script.shift() ?? (await handler?.(request))
    if (!turn) {
      unanswered.push(`request ${request.number}: the script has no turn left`)
      return { fault: 'status', status: 400 }
    }
    return withOwnIds(turn, request, calls)
  })
  const record = (title: string, lines: readonly string[]) => void recorded.push(`## ${title}`, ...lines)
  const hermes = async (...args: readonly string[]) => {
    const result = await runCli(args, { home, cwd, env: ENV })
    record(`hermes ${args.map((arg) => (/^[\w./:@=-]+$/.test(arg) ? arg : JSON.stringify(arg))).join(' ')}`, [
      ...linesOf(result.stdout).filter((line) => !isOutputSeen(line)),
      ...(result.stderr === '' ? [] : ['# on stderr', ...linesOf(result.stderr)]),
      `# exit code ${result.exitCode ?? result.signal}`,
    ])
    return result
  }
  return {
    server,
    home,
    cwd,
    folder,
    script: (...turns) => void script.push(...turns),
    answer: (next) => void (handler = next),
    config: (settings) => writeFile(join(home, 'config.yaml'), JSON.stringify(settings)),
    put: async (path, text) => {
      await mkdir(dirname(join(cwd, path)), { recursive: true })
      await writeFile(join(cwd, path), text)
    },
    hermes,
    chat: (...args) => hermes('chat', '--base-url', server.baseUrl, '-m', 'test', ...args),
    terminal: async (args, play, { titles = false, ends } = {}) => {
      const flags = [...args, '--base-url', server.baseUrl, '-m', 'test']
      await using terminal = await openTerminal(flags, {
        ...{ home, cwd, env: ENV, titles },
        ...{ columns: COLUMNS, rows: ROWS },
      })
      await terminal.shows(/\n>$/)
      const say = async (line: string) => {
        await terminal.type(line)
        await terminal.press('Enter')
      }
      await play({ ...terminal, say }).catch(async (cause: unknown) => {
        throw new Error(`The screen is another one than was waited for:\n${await terminal.screen()}`, { cause })
      })
      if (ends === undefined) await terminal.press('C-d')
      await terminal.exitCode()
      // What a run that was killed had on its status lines depends on the clock.
      const ofTheClock = ends === 'killed' ? /Ctrl-C stops|^ {2}\w+ {2}\S/ : /Ctrl-C stops/
      const screen = (await terminal.screen()).split('\n').filter((line) => !ofTheClock.test(line))
      record(`screen of hermes ${args.join(' ')}`.trimEnd(), screen)
    },
    record,
    unanswered,
    lines: () => {
      const normalise = createNormaliser({ [folder]: '/golden' })
      return [...requestLines(server.requests, normalise), ...recorded.map(normalise)].map(foldLongTexts)
    },
  }
}

/** Lines of a text; no empty one for the end of the last. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** Whether a line of a command's output was seen before its end depends on the clock. */
function isOutputSeen(line: string): boolean {
  return line.includes('"type":"tool-progress"') && !line.includes('"data":')
}

function withOwnIds(turn: ModelStep, request: CapturedRequest, calls: Map<string, number>): ModelStep {
  if ('fault' in turn && !('text' in turn)) return turn
  const conversation = JSON.stringify(
    request.body['system'] ?? request.body['instructions'] ?? request.body.messages?.[0],
  )
  const next = () => {
    const count = (calls.get(conversation) ?? 0) + 1
    calls.set(conversation, count)
    return `call_${count}`
  }
  const answer = turn as Exclude<ModelStep, { fault: 'status' | 'refuse' | 'html' }>
  return {
    ...answer,
    usage: { inputTokens: 1_000, outputTokens: 10, ...answer.usage },
    ...(answer.toolCalls && { toolCalls: answer.toolCalls.map((call) => ({ id: next(), ...call })) }),
  }
}

/** A scripted answer that calls one tool. */
export const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, args }] })

/** Whether a request comes from a child. */
export const isChild = ({ body }: CapturedRequest): boolean =>
  JSON.stringify(body.messages[0]).includes('You were started by another agent')

/** The newest message of a request, as JSON. */
export const newest = ({ body }: CapturedRequest): string => JSON.stringify(body.messages.at(-1))

/** How many model calls are in the ledger of a home: each is written a moment after its answer. */
export function writtenCalls(home: string): unknown {
  return countRows(home, 'hermes_usage')
}

function countRows(home: string, rows: string): unknown {
  const database = new DatabaseSync(join(home, 'state.db'), { readOnly: true })
  try {
    return database.prepare(`SELECT count(*) AS count FROM ${rows}`).get()!['count']
  } finally {
    database.close()
  }
}
