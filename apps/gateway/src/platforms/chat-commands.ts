// What people type to Hermes itself in a chat: what only a chat has stands here, all else is a command of the session.
import { offeredTo, readLine, runCommand, type TypedLine, toPlainText, unknownLine } from '@hermes/commands'
import { HermesError } from '@hermes/contracts'
import type { Command, CommandCaller, CommandOutput, SessionChange } from '@hermes/contracts/extension'
import type { PlatformUser } from '@hermes/contracts/platform'
import { openCommandContext, type SessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { placeFor } from '../commands.js'
import type { ChatWorker } from './chat-worker.js'
import { wordsOf } from './incoming-parts.js'

const CHANGES: readonly SessionChange['type'][] = ['send', 'queue', 'resume', 'shortened']

/** Commands that a chat has itself. */
const OWN = {
  new: 'begin a new conversation',
  stop: 'stop what is being done',
  approve: 'allow what waits: once, session or always',
  deny: 'refuse what waits',
  status: 'what this conversation is and does',
  whoami: 'who you are here',
  sethome: 'have news sent to this chat',
  platform: 'how the chat platforms are doing; pause NAME and resume NAME',
  verbose: 'how much is shown of calls of tools: off, new, all or verbose',
  footer: 'a line after each answer on what made it: on or off',
  topic: 'which conversations this chat has, by topic; a session id goes on with it here',
} as const
const ALIASES: Readonly<Record<string, OwnName>> = { reset: 'new', start: 'status', platforms: 'platform' }
/** Commands of the session under another name, as people of chats know them. */
const SAME: Readonly<Record<string, string>> = { commands: '/help' }

type OwnName = keyof typeof OWN

/** Whoever typed a command. */
export interface ChatCaller {
  readonly user: Pick<PlatformUser, 'id' | 'name'>
  readonly isAdmin: boolean
}

/** A line that begins with a slash, read. */
export type TypedInChat =
  | { readonly type: 'own'; readonly name: OwnName; readonly words: string }
  | Exclude<TypedLine, { readonly type: 'text' }>

/** What a chat can do at its commands. */
export interface OwnCommands {
  renew(): Promise<void>
  answerPending(choice: 'approve' | 'deny', words: string, caller: ChatCaller): Promise<string>
  status(caller: ChatCaller): Promise<string>
  whoami(caller: ChatCaller): string
  setHome(caller: ChatCaller): Promise<string>
  platform(words: string, caller: ChatCaller): Promise<string>
  verbose(words: string, caller: ChatCaller): Promise<string>
  footer(words: string, caller: ChatCaller): Promise<string>
  topic(words: string, caller: ChatCaller): Promise<string>
}

/** Options of {@link ChatCommandLine}. */
interface ChatCommandLineOptions {
  readonly runtime: Pick<Runtime, 'extensions' | 'storage'>
  readonly host: Pick<SessionHost, 'isBusy' | 'interrupt'>
  readonly cwd: string
}

/** The commands of chats. */
export class ChatCommandLine {
  readonly #options: ChatCommandLineOptions

  constructor(options: ChatCommandLineOptions) {
    this.#options = options
  }

  /** `null` for words that are for the model. */
  read(line: string, caller: CommandCaller): TypedInChat | null {
    const [, name = '', words = ''] = /^\/([a-z]+)(?:\s+(.*))?$/is.exec(line.trim()) ?? []
    const own = name.toLowerCase()
    const meant = Object.hasOwn(OWN, own) ? (own as OwnName) : ALIASES[own]
    if (meant !== undefined) return { type: 'own', name: meant, words }
    const all = this.#all()
    const typed = readLine(SAME[own] ?? line, offeredTo(caller, { id: '' }, all), all)
    return typed.type === 'text' ? null : typed
  }

  /** Whether what is said behind it is said in another session. Not of `/handoff`: it may wait for the end of a run, which holds up nobody. */
  beginsAnew(line: string): boolean {
    const name = /^\/([a-z]+)/i.exec(line)?.[1]?.toLowerCase() ?? ''
    return ['new', 'topic'].includes(ALIASES[name] ?? name)
  }

  /** Whether it waits for the end of the run. */
  waits(typed: TypedInChat): boolean {
    return typed.type === 'command' && !['allowed', 'interrupts'].includes(typed.command.duringRun ?? 'waits')
  }

  callerOf({ chat }: ChatWorker, { user, isAdmin }: ChatCaller): CommandCaller {
    return { platform: chat.platform, user: user.name || user.id, isOwner: isAdmin, changes: CHANGES }
  }

  /** Carries it out; resolves with what to say, `''` for nothing, and what the chat has to do. Rejects only as the store does. */
  async carryOut(
    typed: TypedInChat,
    { worker, own, caller, signal }: { worker: ChatWorker; own: OwnCommands; caller: ChatCaller; signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly changes: readonly SessionChange[] }> {
    try {
      if (typed.type === 'unknown') return textOnly(unknownLine(typed))
      if (typed.type === 'own') {
        await this.#mustPass(typed, { worker, caller, signal })
        return textOnly(await this.#own(typed, { worker, own, caller }))
      }
      const outputs = await this.#registered(typed, { worker, caller, signal })
      const changes = outputs.flatMap((output) => (output.type === 'change' ? [output.change] : []))
      const help = typed.command.name === 'help' ? [ownHelp()] : []
      return { text: [...help, toPlainText(outputs)].join('\n') || (changes.length > 0 ? '' : 'Done.'), changes }
    } catch (error) {
      if (HermesError.isInstance(error) && !error.code.startsWith('store.')) return textOnly(error.message)
      throw error
    }
  }

  /** As for registered commands: hooks may object to all but what ends a run or answers a question. */
  async #mustPass(
    { name, words }: TypedInChat & { readonly type: 'own' },
    { worker, caller, signal }: { worker: ChatWorker; caller: ChatCaller; signal: AbortSignal },
  ): Promise<void> {
    const { outside } = this.#options.runtime.extensions
    if (name === 'stop' || name === 'approve' || name === 'deny' || !outside.has('before-command')) return
    const { platform, user } = this.callerOf(worker, caller)
    const event = { command: name, args: { words }, platform, user, sessionId: worker.chat.sessionId }
    await outside.mustPass('before-command', event, { signal, code: 'command.blocked' })
  }

  async #own(
    { name, words }: TypedInChat & { readonly type: 'own' },
    { worker, own, caller }: { worker: ChatWorker; own: OwnCommands; caller: ChatCaller },
  ): Promise<string> {
    switch (name) {
      case 'new':
        await own.renew()
        return 'A new conversation.'
      case 'stop':
        return this.#options.host.interrupt(worker.chat.sessionId, '/stop was called')
          ? 'Stopped.'
          : 'Nothing is running.'
      case 'approve':
      case 'deny':
        return own.answerPending(name, words, caller)
      case 'status':
        return own.status(caller)
      case 'whoami':
        return own.whoami(caller)
      case 'sethome':
        return own.setHome(caller)
      case 'platform':
        return own.platform(words, caller)
      case 'verbose':
        return own.verbose(words, caller)
      case 'footer':
        return own.footer(words, caller)
      case 'topic':
        return own.topic(words, caller)
      default:
        return name satisfies never
    }
  }

  async #registered(
    { command, args }: TypedInChat & { readonly type: 'command' },
    { worker, caller, signal }: { worker: ChatWorker; caller: ChatCaller; signal: AbortSignal },
  ): Promise<readonly CommandOutput[]> {
    const { host } = this.#options
    const { handle } = worker
    const place = await placeFor(command, { handle, signal, isBusy: host.isBusy(handle.id) })
    try {
      const isBusy = () => place === null && host.isBusy(handle.id)
      const notice = () => undefined
      const steer = (words: string) => {
        const { text, sources } = wordsOf(words, worker.whose(caller.user))
        return handle.steer(text, sources)
      }
      const from = this.callerOf(worker, caller)
      const context = await openCommandContext({
        ...this.#options,
        handle,
        caller: from,
        isBusy,
        steer,
        notice,
        signal,
      })
      return await runCommand(command, args, context)
    } finally {
      place?.leave()
    }
  }

  #all(): readonly Command[] {
    return this.#options.runtime.extensions.list('command').map(({ item }) => item)
  }
}

function ownHelp(): string {
  return Object.entries(OWN)
    .map(([name, summary]) => `- /${name}  ${summary}`)
    .join('\n')
}

function textOnly(text: string) {
  return { text, changes: [] }
}
