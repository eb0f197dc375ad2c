// `hermes -q "/…"`: what a person types to Hermes itself, carried out as in a conversation, without one.
import { findCommand, offeredTo, readLine, runCommand, toPlainText, unknownLine } from '@hermes/commands'
import type { Command, CommandCaller, CommandOutput, SessionChange } from '@hermes/contracts/extension'
import { openCommandContext, type SessionHandle } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { EXIT, UsageError } from './errors.js'
import { askerOf, exitCodeOf, showOutput } from './home-command.js'
import { canAsk, type Io } from './io.js'

/** A command with what follows its name. */
export interface QueryCommand {
  readonly command: Command
  readonly args: string
}

/** What a query came to: it is done, or the session is asked something after all. */
type CarriedOut = { readonly exitCode: number } & (
  | { readonly type: 'done' | 'resume' }
  | { readonly type: 'send'; readonly text: string }
)

/** What can be done to a session that is asked once. */
const CHANGES: readonly SessionChange['type'][] = ['send', 'resume', 'shortened']

/** What does here what a command does to the window of a conversation. */
const INSTEAD: Readonly<Record<string, string>> = {
  plan: '--plan makes a plan, -c --accept carries it out',
  yolo: '--yolo',
  image: '--image FILE',
  resume: '-r SESSION',
  sessions: 'hermes sessions list',
  skin: 'hermes skin',
  new: 'each query begins a session of its own, unless -c or -r is given',
}

/**
 * The command that a query is; else the words for the model, which begin with the name where they call a skill or a bundle. A path is words, and so
 * is what begins like a name.
 * @throws UsageError for a command that there is not, that needs a conversation, or that is not for who asks.
 */
export async function readCommand(
  text: string,
  {
    runtime,
    io,
  }: { readonly runtime: Pick<Runtime, 'extensions' | 'skills'>; readonly io: Pick<Io, 'cwd' | 'user' | 'env'> },
): Promise<QueryCommand | string> {
  const all = runtime.extensions.list('command').map(({ item }) => item)
  const caller = callerOf(io)
  const offered = offeredTo(caller, { id: '' }, all)
  // Skills and bundles bring themselves along with the words that name them.
  const skills = (await runtime.skills.typed(io.cwd))
    .filter((name) => findCommand(all, name) === undefined)
    .map((name): Command => ({ name, summary: '', run: () => [] }))
  const typed = readLine(text, [...offered, ...skills], [...all, ...skills], { takesBeginnings: false })
  switch (typed.type) {
    case 'text':
      return text
    case 'unknown':
      throw new UsageError(unknownLine(typed).replace('/help lists all.', 'hermes -q /help lists all.'))
    case 'command': {
      const { command, args } = typed
      if (skills.includes(command)) return `/${command.name} ${args}`.trim()
      if (offered.includes(command)) return { command, args }
      const isOwners = !caller.isOwner && command.scope !== 'anyone'
      throw new UsageError(isOwners ? `/${command.name} ${NOT_THE_OWNER}` : needsConversation(command))
    }
    default:
      return typed satisfies never
  }
}

function needsConversation({ name }: Command): string {
  const instead = INSTEAD[name]
  return `/${name} works in a conversation only (start one: hermes).${instead === undefined ? '' : ` Here: ${instead}.`}`
}

/** Carries a command out in a session, or without one. An interrupt ends it. Rejects as the command does. */
export async function carryOutCommand(
  { command, args }: QueryCommand,
  {
    io,
    runtime,
    handle,
    json,
  }: {
    readonly io: Io
    readonly runtime: Runtime
    readonly handle: SessionHandle | null
    /** Rows alone, as JSON lines. */
    readonly json: boolean
  },
): Promise<CarriedOut> {
  const controller = new AbortController()
  const stopListening = io.onInterrupt(() =>
    controller.abort(new DOMException('interrupted from the terminal', 'AbortError')),
  )
  try {
    const context = await openCommandContext({
      ...{ runtime, handle, caller: callerOf(io), cwd: io.cwd, signal: controller.signal },
      ...(canAsk(io) ? { ask: askerOf(io) } : {}),
      isBusy: () => false,
      notice: (text) => void io.stderr.write(`${text}\n`),
    })
    const outputs = await runCommand(command, args, context)
    for (const output of outputs) show(io, output, json)
    const change = outputs.findLast((output) => output.type === 'change')?.change
    const exitCode = exitOf(outputs)
    if (change?.type === 'send') return { type: 'send', text: change.text, exitCode }
    return { type: change?.type === 'resume' ? 'resume' : 'done', exitCode }
  } finally {
    stopListening()
  }
}

const NOT_THE_OWNER = 'is for the owner of this Hermes; a program that an agent runs does not speak for them.'

/** A program that an agent runs does not speak for the owner. */
const callerOf = ({ user, env }: Pick<Io, 'user' | 'env'>): CommandCaller => ({
  ...{ platform: 'cli', user, isOwner: env['HERMES_AGENT'] !== 'true', changes: CHANGES },
})

/** What a person would choose from or fill in is shown with what to type. */
function show(io: Io, output: CommandOutput, json: boolean): void {
  if (output.type === 'form' || output.type === 'choice') io.stdout.write(`${toPlainText([output])}\n`)
  else showOutput(io, output, json)
}

/** Who was asked for what was missing has not got what they wanted. */
const exitOf = (outputs: readonly CommandOutput[]) =>
  outputs.some(({ type }) => type === 'form') ? EXIT.usage : exitCodeOf(outputs)
