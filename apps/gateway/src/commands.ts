// Slash commands in chat requests: they are carried out without a model, and what was said about them is no part of the conversation.
import type { NoticeText, RunResult } from '@hermes/agent-core'
import { offeredTo, readLine, runCommand, type TypedLine, toPlainText, unknownLine } from '@hermes/commands'
import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import { noUsage, type UserMessage } from '@hermes/contracts/conversation'
import type { Command, CommandCaller, CommandOutput } from '@hermes/contracts/extension'
import { openCommandContext, type SessionHandle, type SessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import type { ChatRequest, PastMessage } from './chat-request.js'
import type { ReplySummary } from './completion.js'
import type { ReplySource } from './piece-source.js'
import type { CommandReport, Piece } from './reply.js'

/** Whoever has the key of the server is a program, and programs pass on what others write. */
const CALLER: CommandCaller = { platform: 'gateway', user: 'api', isOwner: false, changes: [] }

/** A message that asks Hermes itself for something. */
export type TypedCommand = Exclude<TypedLine, { readonly type: 'text' }> & { readonly line: string }

/** Options of {@link ChatCommands}. */
interface ChatCommandsOptions {
  readonly runtime: Pick<Runtime, 'extensions' | 'storage'>
  readonly host: Pick<SessionHost, 'isBusy'>
  readonly cwd: string
}

interface CommandCall {
  /** The session of the conversation; `null` where none has begun. */
  readonly handle: SessionHandle | null
  readonly message: UserMessage
  readonly signal: AbortSignal
  /** Shows a line before the result. */
  readonly notice: (text: string) => void
}

/** The commands that clients of this API may call. Extensions may add and remove commands at any time. */
export class ChatCommands {
  readonly #options: ChatCommandsOptions

  constructor(options: ChatCommandsOptions) {
    this.#options = options
  }

  /** What a message asks Hermes itself for; `null` when it is for the model. */
  read({ content }: UserMessage): TypedCommand | null {
    const [first, ...others] = content
    if (first?.type !== 'text') return null
    const all = this.#options.runtime.extensions.list('command').map(({ item }) => item)
    // The same words mean the same in the first message and later, so a session is taken for granted here.
    const typed = readLine(first.text, offeredTo(CALLER, { id: '' }, all), all)
    if (typed.type === 'text' || (typed.type === 'unknown' && others.length > 0)) return null
    return { ...typed, line: first.text.trim() }
  }

  /** The request without the commands that its client called before, and what they came to: no session knows of them. */
  withoutExchanges(request: ChatRequest): ChatRequest {
    let isExchange = false
    const isKept = (message: PastMessage) => {
      if (message.role === 'user') isExchange = this.read(message) !== null
      return !isExchange
    }
    return { ...request, history: request.history.filter(isKept) }
  }

  /** Carries a command out; where a run goes on it waits for its end, unless it may come at any time. */
  async carryOut(typed: TypedCommand, call: CommandCall): Promise<CommandReport> {
    const { line } = typed
    const name = typed.type === 'unknown' ? null : typed.command.name
    try {
      return { name, line, outputs: await this.#outputs(typed, call) }
    } catch (error) {
      if (!HermesError.isInstance(error) || !error.code.startsWith('command.')) throw error
      return { name, line, outputs: [{ type: 'text', text: error.message, isProblem: true }] }
    }
  }

  async #outputs(typed: TypedCommand, { handle, message, signal, notice }: CommandCall) {
    if (typed.type === 'unknown') throw refused(unknownLine(typed))
    const { command, args } = typed
    if (message.content.length > 1) throw refused(`/${command.name} takes text only.`)
    const { host } = this.#options
    const place = handle && (await placeFor(command, { handle, signal, isBusy: host.isBusy(handle.id) }))
    try {
      const isBusy = () => place === null && handle !== null && host.isBusy(handle.id)
      const context = await openCommandContext({ ...this.#options, handle, caller: CALLER, isBusy, notice, signal })
      return await runCommand(command, args, context)
    } finally {
      place?.leave()
    }
  }
}

/** A place in the session for a command that has to wait for one; `null` for one that may come at any time. */
export function placeFor(
  { name, duringRun = 'waits' }: Command,
  {
    handle,
    signal,
    isBusy,
  }: Pick<CommandCall, 'signal'> & { readonly handle: SessionHandle; readonly isBusy: boolean },
) {
  switch (duringRun) {
    case 'allowed':
      return null
    case 'refused':
      if (isBusy) throw refused(`/${name} cannot be called during a run.`)
      break
    case 'interrupts':
      handle.interrupt(`/${name} was called`)
      break
    case 'waits':
      break
    default:
      duringRun satisfies never
  }
  return handle.queue({ signal })
}

function refused(line: string): HermesError {
  return new HermesError(line, { code: 'command.not_offered' })
}

/** Whether a command need not wait for anything. */
export function isUrgent(typed: TypedCommand): boolean {
  return typed.type === 'unknown' || typed.command.duringRun === 'allowed'
}

/** A command as a reply: what it says while it works, what it came to, and its end. */
export class CommandReply implements ReplySource {
  readonly reader: ReplySummary & { readonly notices: NoticeText[]; command?: CommandReport } = {
    ...{ approvals: [], question: null, denials: [], notices: [], isCutOff: false, unheard: '' },
  }
  /** Settles with the last piece, and never rejects. */
  readonly done: Promise<void>
  readonly #stop: () => void
  readonly #pieces: ReadableStreamDefaultReader<Piece>

  constructor(work: (notice: (text: string) => void) => Promise<CommandReport>, stop: () => void) {
    this.#stop = stop
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    const pieces = new ReadableStream<Piece>({
      start: async (controller) => {
        const notice = (text: string) => {
          this.reader.notices.push({ level: 'info', text })
          controller.enqueue({ type: 'notice', notice: { level: 'info', text } })
        }
        try {
          const command = await work(notice)
          this.reader.command = command
          controller.enqueue({ type: 'command', command })
          controller.enqueue({ type: 'end', result: completed(command.outputs) })
        } catch (error) {
          controller.enqueue({ type: 'end', result: failedBy(error) })
        } finally {
          resolve()
        }
        controller.close()
      },
    })
    this.#pieces = pieces.getReader()
  }

  async next(): Promise<Piece | null> {
    return (await this.#pieces.read()).value ?? null
  }

  async leave(): Promise<void> {
    this.#stop()
    await this.done
  }
}

function completed(outputs: readonly CommandOutput[]): RunResult {
  return { status: 'completed', text: toPlainText(outputs) || 'Done.', usage: noUsage }
}

/** What is no failure of ours is told by the route, which logs it. */
function failedBy(error: unknown): RunResult {
  if (isAbort(error)) return { status: 'interrupted', text: '', usage: noUsage }
  if (!HermesError.isInstance(error)) throw error
  return {
    status: 'failed',
    text: '',
    usage: noUsage,
    error: { code: error.code, message: errorLine(error), details: error.details },
  }
}
