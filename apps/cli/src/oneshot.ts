import { type AgentEvent, isPlanning, type RunInput, type RunResult, type RunStatus } from '@hermes/agent-core'
import type { UserPart } from '@hermes/contracts/conversation'
import { questionToJson } from '@hermes/contracts/policy'
import { createSessionHost, unattendedMode } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { type ChatOptions, chosenAccount, chosenEffort, openOptions, sessionOptions } from './chat-options.js'
import { EXIT, UsageError } from './errors.js'
import { canAsk, type Io } from './io.js'
import type { carryOutCommand, QueryCommand } from './oneshot-command.js'
import { openCli } from './open-cli.js'
import { createProgressView } from './render/progress.js'
import { createStyle, printable } from './render/style.js'
import { chooseSession } from './session-choice.js'
import { TurnMemory } from './turn-memory.js'
import { refuseUnknownSkills } from './unknown-skills.js'

const EXIT_OF: Readonly<Record<RunStatus, number>> = {
  completed: EXIT.ok,
  failed: EXIT.failed,
  stopped: EXIT.stopped,
  parked: EXIT.parked,
  interrupted: EXIT.interrupted,
}

const MODELS_SHOWN = 20

/** Asks once: the answer alone on stdout, progress on stderr, the exit code tells how it went. */
export async function oneshot(io: Io, options: ChatOptions, piped: string | null): Promise<number> {
  refusePlan(options, piped)
  let input = await inputOf(io, options, piped)
  const isPure = options.z !== undefined
  const person = canAsk(io) && !isPure ? (await import('./interactive/person.js')).createPerson(io) : null
  const runtime = await openCli(io, { yolo: options.yolo ?? false, takesCommands: false, ...openOptions(options) })
  const host = createSessionHost({ runtime, leavesJobs: true })
  const memory = new TurnMemory()
  let endReason: string | undefined
  try {
    await refuseUnknownSkills(runtime, options, io.cwd)
    const query = await readQuery(io, runtime, options)
    const command = typeof query === 'object' ? query : null
    if (typeof query === 'string' && query !== options.query) input = await inputOf(io, { ...options, query }, piped)
    if (command !== null) refuseBeside(command, options, piped)
    const doing = { io, runtime, json: options.json ?? false }
    if (command?.command.needsSession === false) return (await carryOut(command, { ...doing, handle: null })).exitCode
    const session = await chooseSession(io, await runtime.storage(), options)
    const handle = host.open({
      ...sessionOptions(options, session),
      platform: person ? 'cli' : 'oneshot',
      cwd: io.cwd,
      firstText: `${options.query ?? ''}${piped ?? ''}`,
      notices: false,
      permissions: person ? 'ask' : unattendedMode('oneshot', runtime.config.approvals),
      ...(person ? { answersQuestions: 'now' as const } : {}),
    })
    const { agent, models, useAccount } = await handle.agent()
    const by = session ? await handle.otherUser() : null
    if (by !== null) io.stderr.write(`hermes: this session is also open in ${by}.\n`)
    person?.answer(handle)
    const stopListening = io.onInterrupt((signal) => {
      endReason = signal.toLowerCase()
      handle.interrupt('interrupted from the terminal')
    })
    if (options.account !== undefined) await useAccount(chosenAccount(options.account))
    if (options.reasoning) await agent.setSampling({ reasoningEffort: chosenEffort(options.reasoning) })
    if (options.plan) await agent.plan()
    // To go on without a word is to accept the plan that was shown.
    else if (isResume(input)) await agent.endPlan('accept')
    if (command !== null) {
      const outcome = await carryOut(command, { ...doing, handle })
      if (outcome.type === 'done') return outcome.exitCode
      input = outcome.type === 'send' ? await inputOf(io, { ...options, query: outcome.text }, piped) : { resume: true }
    }
    const turn = handle.send(input)
    const showsThoughts = () => runtime.config.display.show_reasoning
    const view = createProgressView({ output: person?.output ?? io.stderr, text: false, showsThoughts })
    for await (const event of turn) {
      memory.see(event)
      if (options.json) io.stdout.write(`${JSON.stringify(eventToJson(event))}\n`)
      else if (!isPure) view.show(event)
    }
    const result = await turn.result
    endReason ??= result.status
    stopListening()
    const valid = result.error?.code === 'transport.model_not_found' ? await models() : []
    const isPlan = result.status === 'completed' && isPlanning(agent.entries())
    const isKept = result.status !== 'completed' && (await isLogged(runtime, agent.sessionId, result))
    const waiting = await Promise.all((result.pending ?? []).map((id) => toAnswer(runtime, id)))
    return await report(io, options, { result, sessionId: agent.sessionId, valid, isPlan, isKept, waiting })
  } finally {
    memory.end()
    await host.settle()
    await runtime.close(endReason)
  }
}

/** An event as `--json` shows it. */
function eventToJson(event: AgentEvent): object {
  return event.type === 'approval-request' ? { ...event, question: questionToJson(event.question) } : event
}

/** The answer as a person reads it at a terminal; a program gets it as it was written. */
async function shownAnswer({ stdout }: Io, text: string): Promise<string> {
  if (!stdout.isTTY) return text
  const { createMarkdownStream } = await import('./markdown/markdown.js')
  const markdown = createMarkdownStream({ columns: () => stdout.columns(), style: createStyle(stdout) })
  return markdown.add(printable(text)) + markdown.end()
}

/** Whether what was said can be gone on with: a store that failed has said in its error where the words are, or that they are nowhere. */
async function isLogged(runtime: Runtime, sessionId: string, { error }: RunResult): Promise<boolean> {
  if (error?.code.startsWith('store.')) return false
  const session = await (await runtime.storage()).sessions.get(sessionId).catch(() => null)
  return session !== null && session.messageCount > 0
}

/** What somebody has to answer before a run goes on, and how. */
async function toAnswer(runtime: Runtime, id: string): Promise<string> {
  const approval = await (await runtime.storage()).approvals.get(id)
  return `Waits for an answer: ${approval?.question.summary ?? ''}. Answer it: hermes approvals answer ${id.slice(0, 8)} yes (or no)`
}

/** Whoever asks for a plan this way must not get a run with full rights instead. */
function refusePlan({ query, plan }: ChatOptions, piped: string | null): void {
  if (!plan && /^\s*\/plan(?:\s|$)/.test(query ?? piped ?? ''))
    throw new UsageError(
      '/plan works in a conversation only. Here: --plan to make a plan, -c --accept to carry it out.',
    )
}

/** A query that may be a command is read as one; a file holds words only. */
async function readQuery(
  io: Io,
  runtime: Runtime,
  { query, queryFile }: Pick<ChatOptions, 'query' | 'queryFile'>,
): Promise<QueryCommand | string | undefined> {
  if (query === undefined || queryFile !== undefined || !/^\s*\/[a-z]/i.test(query)) return query
  return (await import('./oneshot-command.js')).readCommand(query, { runtime, io })
}

async function carryOut(command: QueryCommand, of: Parameters<typeof carryOutCommand>[1]) {
  return (await import('./oneshot-command.js')).carryOutCommand(command, of)
}

/** What comes along with a message has no place beside a command that sends none. */
function refuseBeside({ command }: QueryCommand, { image, plan }: ChatOptions, piped: string | null): void {
  const beside = piped !== null ? 'piped text' : image !== undefined ? '--image' : plan ? '--plan' : null
  if (beside !== null && !command.changes?.includes('send'))
    throw new UsageError(`/${command.name} is a command of Hermes and takes no ${beside}.`)
}

async function inputOf(io: Io, options: ChatOptions, piped: string | null): Promise<RunInput> {
  return withImages(toInput(options, piped), options.image ?? [], io.cwd)
}

function toInput(options: ChatOptions, piped: string | null): RunInput {
  if (options.accept) return accepted(options)
  if (options.query === undefined) {
    if (piped !== null) return piped
    if (options.continue || options.resume !== undefined) return { resume: true }
    throw new UsageError('Nothing to do: give a query with -q "…", pipe text in, or start hermes in a terminal.')
  }
  if (options.query.trim() === '') throw new UsageError('The query is empty. Give it some text: hermes chat -q "…"')
  if (piped === null) return options.query
  const content: UserPart[] = [
    { type: 'text', text: options.query },
    {
      ...({ type: 'text', text: `\nStandard input:\n\n${piped}`, origin: 'external', withFencedInput: true } as const),
      sources: [{ type: 'person', name: 'the standard input' }],
    },
  ]
  return { content }
}

async function withImages(input: RunInput, files: readonly string[], cwd: string): Promise<RunInput> {
  if (files.length === 0) return input
  if (isResume(input)) throw new UsageError('--image goes with a question: hermes chat --image FILE -q "…"')
  const { readImages } = await import('./read-images.js')
  const words: readonly UserPart[] = typeof input === 'string' ? [{ type: 'text', text: input }] : contentOf(input)
  return { content: [...words, ...(await readImages(files, cwd))] }
}

function contentOf(input: Exclude<RunInput, string>): readonly UserPart[] {
  return 'content' in input ? input.content : []
}

function accepted({ continue: isNewest, resume, query, plan }: ChatOptions): RunInput {
  if (!isNewest && resume === undefined)
    throw new UsageError('--accept needs the session of the plan: -c or -r SESSION.')
  if (query !== undefined || plan) throw new UsageError('--accept takes no query and no --plan.')
  return { resume: true }
}

function isResume(input: RunInput): boolean {
  return typeof input === 'object' && 'resume' in input
}

interface Report {
  readonly result: RunResult
  readonly sessionId: string
  /** Models there are, when the one asked for is not. */
  readonly valid: readonly string[]
  /** The answer is a plan that was not accepted yet. */
  readonly isPlan: boolean
  /** The session has what was said, although the run did not end well. */
  readonly isKept: boolean
  /** What a parked run waits for, a line each. */
  readonly waiting: readonly string[]
}

async function report(
  io: Io,
  options: ChatOptions,
  { result, sessionId, valid, isPlan, isKept, waiting }: Report,
): Promise<number> {
  if (!options.json && result.text !== '' && (result.status === 'completed' || result.status === 'stopped'))
    io.stdout.write(`${(await shownAnswer(io, result.text)).trimEnd()}\n`)
  const models = valid.length > 0 ? ` Models there: ${valid.slice(0, MODELS_SHOWN).join(', ')}.` : ''
  if (result.error) io.stderr.write(`hermes: ${printable(`${result.error.message}${models}`)}\n`)
  for (const line of waiting) io.stderr.write(`${printable(line)}\n`)
  if (isKept) io.stderr.write(`The session is kept; go on with: hermes chat -r ${sessionId}\n`)
  if (isPlan) io.stderr.write(`A plan; nothing was changed. Carry it out: hermes chat -r ${sessionId} --accept\n`)
  return EXIT_OF[result.status]
}
