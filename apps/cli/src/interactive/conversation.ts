// A conversation, top to bottom:
//
//   lines come in at any time ─▶ a command that may run now runs now
//                             ─▶ during a run other lines wait, steer it or interrupt it
//   the loop takes what waits, one after the other, and is idle in between

import type { RunInput } from '@hermes/agent-core'
import type { LineCandidate, TypedLine } from '@hermes/commands'
import {
  completeLine,
  describeSession,
  offeredTo,
  PLAN_HINT,
  readLine,
  runCommand,
  shownSessions,
  unknownLine,
} from '@hermes/commands'
import type { ReasoningEffort } from '@hermes/contracts/conversation'
import type { CommandContext, CommandSession, SessionChange } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Turn } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { createCommandSession } from '@hermes/runtime'
import type { Candidate } from '../editor/completion.js'
import type { Draft, SubmittedLine } from '../editor/editor.js'
import { describeFailure } from '../errors.js'
import type { Io } from '../io.js'
import { renderDetails } from '../render/call-details.js'
import { renderTable } from '../render/command-table.js'
import { createRecap } from '../render/recap.js'
import { printable } from '../render/style.js'
import { Attachments } from './attachments.js'
import type { Console, ConsoleHandlers } from './console.js'
import type { Display } from './display.js'
import { keysHelp } from './keys-help.js'
import type { OpenSession, OpenSessionOptions } from './open-session.js'
import { isPlanningSession, leaveSession, openSession } from './open-session.js'
import { OwnCommands, ownCommand } from './own-commands.js'
import { type Asker, askLine } from './questions.js'
import { readBar } from './read-bar.js'
import { chooseOne, showOutput } from './show-output.js'
import { showTurn } from './show-turn.js'
import { ProcessWatch } from './watch-processes.js'
import { Written } from './written.js'

/** Options of {@link Conversation}. */
interface ConversationOptions
  extends Omit<OpenSessionOptions, 'asker' | 'permissions' | 'onWakeUp' | 'onRest' | 'onAside'> {
  readonly display: Display
  /** Whether what the model thinks is shown at first. */
  readonly showsThoughts: boolean
  readonly yolo: boolean
  /** Lines that wait already. */
  readonly waiting: readonly Waiting[]
  /** Chosen for the session it begins with; `null` goes back to what is configured. Default: as the session has it. */
  readonly reasoningEffort?: ReasoningEffort | null
  /** The key or login that the session it begins with uses alone; `null` takes such a choice back. Default: as the session has it. */
  readonly account?: string | null
  /** Stands in the line that is written first. Default: nothing. */
  readonly firstWords?: string
  /** Of the session it begins with, once that is stored; `null` for one that is found. */
  readonly title: string | null
  /** Begins in plan mode. */
  readonly plan: boolean
  /** Keeps a line for the next conversation. */
  readonly remember: (line: Draft) => void
  /** Who sits at the terminal, the home of that person, and what their programs find. */
  readonly user: string
  readonly userHome: string
  readonly place: Pick<Io, 'cwd' | 'userHome' | 'env' | 'tempDir'>
}

type TypedCommand = TypedLine & { readonly type: 'command' }

/** A line that waits for its turn. */
export interface Waiting {
  readonly text: string
  readonly shown: string
}

const CHANGES = [
  'new',
  'new-in',
  'open',
  'send',
  'resume',
  'queue',
  'shortened',
  'yolo',
  'details',
  'thoughts',
  'copy',
  'attach',
  'display',
  'reload',
  'leave',
] as const
const USER_EXIT = 'user_exit'
const LEAVE_WITHIN_MS = 2_000
const MAX_SHOWN_WAITING = 4
const OFFERED_SESSIONS = 200
const COMPLETED_FOR_MS = 5_000

/** A person and an agent in a terminal. */
export class Conversation implements ConsoleHandlers {
  readonly #options: ConversationOptions
  readonly #waiting: Waiting[]
  #isYolo: boolean
  #showsThoughts: boolean
  /** Where new sessions work, in place of where the conversation began. */
  #cwd: string | null = null
  /** A name for a session that is not stored yet. */
  #title: string | null
  /** Why the person left, in a word. */
  endReason = USER_EXIT
  #opened: Console | null = null
  #session: OpenSession | null = null
  #wake: () => void = () => undefined
  #turn: { readonly showStatus: () => void } | null = null
  #isLeaving = false
  #isReloading = false
  #interruptedAtMs = Number.NEGATIVE_INFINITY
  #steering: string[] = []
  /** Notes that no tool result could carry; the agent keeps them for the next turn. */
  #late: string[] = []
  /** A run that began by itself and is not shown yet. */
  #wokenTurn: Turn | null = null
  #stopWatching: () => void = () => undefined
  readonly #processes = new ProcessWatch((line) => this.#announce(line))
  readonly #ended = new AbortController()
  readonly #attachments: Attachments
  #ownCommands: OwnCommands | null = null
  #written: Written | null = null
  #completed: { key: string; atMs: number; candidates: Promise<readonly LineCandidate[]> } | null = null
  #abandon: () => void = () => undefined
  readonly #abandoned = new Promise<void>((resolve) => (this.#abandon = resolve))

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#waiting = [...options.waiting]
    this.#attachments = new Attachments(options.place)
    this.#isYolo = options.yolo
    this.#title = options.title
    this.#showsThoughts = options.showsThoughts
  }

  get #permissions(): OpenSessionOptions['permissions'] {
    return this.#isYolo ? 'approve' : 'ask'
  }

  get runtime(): Runtime {
    return this.#options.runtime
  }

  get #console(): Console {
    return this.#opened!
  }

  get session(): OpenSession {
    return this.#session!
  }

  /** Whether the person left only to come back. */
  get isReloading(): boolean {
    return this.#isReloading
  }

  /** What goes along where somebody comes back. */
  get carried(): { readonly yolo: boolean; readonly waiting: readonly Waiting[] } {
    return { yolo: this.#isYolo, waiting: this.#waiting }
  }

  get isBusy(): boolean {
    return this.#turn !== null
  }

  get #out(): Written {
    return this.#written!
  }

  get #own(): OwnCommands {
    return this.#ownCommands!
  }

  /** Talks until the person leaves. */
  async run(console: Console, session: SessionInfo | null, greet: (opened: OpenSession) => void): Promise<void> {
    this.#opened = console
    this.#written = new Written(console.output, () => this.#options.display.time(new Date()))
    this.#ownCommands = new OwnCommands(this.#written, this.#ended.signal)
    await this.switchSession(session)
    greet(this.session)
    const { reasoningEffort, account, plan, firstWords } = this.#options
    if (firstWords !== undefined) console.setDraft(firstWords)
    if (account !== undefined) await this.session.useAccount(account)
    if (reasoningEffort !== undefined) await this.session.agent.setSampling({ reasoningEffort })
    if (plan) await this.session.agent.plan()
    if (isPlanningSession(this.session)) this.say(PLAN_HINT)
    for (const notice of this.session.notices) this.say(notice)
    if (session) await this.#announceInbox()
    if (this.session.isAnswered) await Promise.race([this.turn({ resume: true }), this.#abandoned])
    console.setStatus(null)
    while (!this.#isLeaving) {
      const next = this.#wokenTurn ? undefined : this.#waiting.shift()
      if (this.#wokenTurn) await Promise.race([this.#hear(), this.#abandoned])
      else if (next) await Promise.race([this.#handle(next), this.#abandoned])
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    await leaveSession(this.session, this.endReason)
  }

  async switchSession(session: SessionInfo | null): Promise<void> {
    const { runtime, host, request } = this.#options
    const asker: Asker = {
      output: this.#out.besideCalls,
      pick: (question, signal) => this.#console.pick(question, signal),
    }
    const onWakeUp = (turn: Turn) => {
      this.#wokenTurn = turn
      this.#wake()
    }
    const onRest = (line: string) => this.#announce(line)
    const opened = await openSession(
      {
        runtime,
        host,
        request: this.#cwd === null ? request : { ...request, cwd: this.#cwd },
        asker,
        permissions: this.#permissions,
        onWakeUp,
        onRest,
        onAside: () => this.#showBar(),
      },
      session,
    )
    const former = this.#session
    this.#session = opened
    this.#wokenTurn = null
    if (former?.handle.id === opened.handle.id) {
      former.stopAsking()
      former.handle.close()
    } else if (former) await leaveSession(former, 'left')
    this.#watchTasks(opened)
    this.#processes.stop()
    this.#showBar()
  }

  /** Brings the bar up to date. A store that cannot be read is said by what needs it. */
  #showBar(): void {
    const { runtime, userHome } = this.#options
    const { session } = this
    const bar = readBar({ runtime, session, isYolo: this.#isYolo, title: this.#title, userHome })
    bar.then(
      (read) => {
        const isShown = this.#options.display.hasBar
        if (session === this.#session && !this.#isLeaving) this.#console.setBar(isShown ? read : null)
      },
      () => undefined,
    )
  }

  /** Says when a task in the background has ended. */
  #watchTasks({ children }: OpenSession): void {
    this.#stopWatching()
    this.#stopWatching = children.watch(({ id, state, isBackground, endedAtMs }) => {
      if (isBackground && endedAtMs !== null) this.#announce(`Task ${id} ${state}.`)
    })
  }

  /** Says what happened by itself; it belongs to nothing above it. */
  #announce(line: string): void {
    if (this.#isLeaving) return
    if (!this.isBusy) this.#out.lines.write('\n')
    this.say(line)
  }

  /** What may be typed here besides messages. */
  #commands(): CommandContext {
    const { runtime, user } = this.#options
    const session = this.#commandSession()
    const caller = { platform: 'cli', user, isOwner: true, changes: CHANGES }
    return {
      caller,
      session,
      cwd: session.cwd,
      commands: offeredTo(
        caller,
        session,
        runtime.extensions.list('command').map(({ item }) => item),
      ),
      notice: (text) => this.say(text),
      ask: (question, signal) => askLine(this.#console, question, signal),
      signal: this.#ended.signal,
    }
  }

  #commandSession(): CommandSession {
    const { runtime } = this.#options
    const { sessionId } = this.session.agent
    const stored = async () => (await runtime.storage()).sessions.get(sessionId)
    return createCommandSession({
      runtime,
      ready: () => this.session,
      replaced: (opened) => {
        this.#session = opened
        this.#watchTasks(opened)
      },
      isBusy: () => this.isBusy,
      logged: () => this.session.entries,
      own: {
        stop: () => this.stop(),
        steer: (text) => this.steer(text),
        title: async () => this.#title ?? (await stored())?.title ?? null,
        rename: async (title) => {
          if (await stored()) await (await runtime.storage()).sessions.update(sessionId, { title })
          else this.#title = title
          return (await stored())?.title ?? title
        },
      },
    })
  }

  /** What the last word of an unfinished line may become. Arguments are asked for once while they are being typed. */
  complete(line: string): Promise<readonly LineCandidate[]> {
    const [before, word] = [line.slice(0, line.lastIndexOf(' ') + 1), line.slice(line.lastIndexOf(' ') + 1)]
    const key = before === '' ? line : `${before}${word.startsWith('-') ? '-' : ''}`
    const isSame = this.#completed?.key === key && performance.now() - this.#completed.atMs < COMPLETED_FOR_MS
    if (!isSame) this.#completed = { key, atMs: performance.now(), candidates: completeLine(line, this.#commands()) }
    return this.#completed!.candidates
  }

  /** Sessions that a message can refer to, by id. */
  async sessionCandidates(): Promise<readonly Candidate[]> {
    const stored = await shownSessions(await this.runtime.storage(), { limit: OFFERED_SESSIONS })
    return stored.map((session) => ({ text: session.id, detail: describeSession(session) }))
  }

  say(text: string): void {
    this.#out.say(text)
  }

  enqueue(text: string, shown = text): void {
    this.#waiting.push({ text, shown })
    this.#wake()
    this.#turn?.showStatus()
  }

  /** Ends the run and the conversation, `reason` being why in a word; asked for again it no longer waits for the run. */
  leave(reason = USER_EXIT): void {
    if (this.#isLeaving) this.#abandon()
    else this.endReason = reason
    this.#isLeaving = true
    this.#ended.abort()
    this.#session?.handle.interrupt('the user left')
    this.#wake()
  }

  stop(): void {
    this.#interruptedAtMs = performance.now()
    this.session.handle.interrupt('interrupted from the terminal')
    if (this.#waiting.length === 0) return
    const draft = [...this.#waiting.splice(0).map(({ text }) => text), this.#console.draft()]
    this.#console.setDraft(draft.filter((text) => text !== '').join('\n'))
  }

  async steer(text: string): Promise<'delivered' | 'queued'> {
    if (!this.isBusy) {
      this.enqueue(text)
      return 'queued'
    }
    this.#steering.push(text)
    this.#turn?.showStatus()
    const how = await this.session.handle.steer(text)
    this.#steering.splice(this.#steering.indexOf(text), 1)
    this.#turn?.showStatus()
    if (how === 'delivered') this.say(`↪ ${text}`)
    else this.#late.push(text)
    return how
  }

  onLine(line: SubmittedLine): void {
    this.#options.remember(line.draft)
    const command = ownCommand(line.text)
    if (command !== null && this.isBusy) {
      this.#out.echo(line.shown)
      void this.#runOwn(command, true)
      return
    }
    const parsed = readLine(line.text, this.#commands().commands)
    if (parsed.type === 'command' && this.isBusy) this.#commandDuringRun(parsed, line)
    else if (!this.isBusy || parsed.type !== 'text') this.enqueue(line.text, line.shown)
    else this.#lineDuringRun(line)
  }

  #commandDuringRun(typed: TypedCommand, { text, shown }: SubmittedLine): void {
    const { name, duringRun = 'waits' } = typed.command
    switch (duringRun) {
      case 'allowed':
        this.#out.echo(shown)
        // What it throws is said, never passed on.
        void this.#command(typed)
        break
      case 'refused':
        this.#out.echo(shown)
        this.say(`/${name} cannot be called during a run.`)
        break
      case 'interrupts':
        this.#waiting.unshift({ text, shown })
        this.session.handle.interrupt('the user said something else')
        break
      case 'waits':
        this.enqueue(text, shown)
        break
      default:
        duringRun satisfies never
    }
  }

  #lineDuringRun(line: SubmittedLine): void {
    const { text, shown, how } = line
    const mode = how === 'steer' ? 'steer' : this.#options.display.busyMode
    switch (mode) {
      case 'queue':
        this.enqueue(text, shown)
        break
      case 'steer':
        this.steer(text).catch((error: unknown) => this.say(describeFailure(error).line))
        break
      case 'interrupt':
        this.enqueue(text, shown)
        this.session.handle.interrupt('the user said something else')
        break
      case 'background': {
        const typed = readLine(`/background ${text}`, this.#commands().commands)
        if (typed.type === 'command') this.#commandDuringRun(typed, line)
        break
      }
      default:
        mode satisfies never
    }
  }

  onInterrupt(): void {
    if (this.#own.stop()) return
    const nowMs = performance.now()
    const isSecond = nowMs - this.#interruptedAtMs < LEAVE_WITHIN_MS
    if (this.isBusy) {
      if (isSecond) this.leave()
      else this.stop()
      return
    }
    this.#interruptedAtMs = nowMs
    if (this.#console.draft() !== '') this.#console.setDraft('')
    else if (isSecond) this.leave()
    else this.say('Press Ctrl-C again to leave.')
  }

  onStop(): void {
    if (!this.#own.stop() && this.isBusy) this.stop()
  }

  onEnd(): void {
    this.leave()
  }

  /** Somebody who comes back is not met by an agent that is at work already. */
  async #announceInbox(): Promise<void> {
    const { inbox } = await this.#options.runtime.storage()
    const { length: count } = await inbox.waiting(this.session.agent.sessionId)
    if (count > 0)
      this.say(`${count === 1 ? 'A result' : `${count} results`} of background tasks: with your next message.`)
  }

  /** Shows the run that began by itself. */
  async #hear(): Promise<void> {
    const turn = this.#wokenTurn
    this.#wokenTurn = null
    if (turn) await this.#show(turn)
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #handle({ text, shown }: Waiting): Promise<void> {
    this.#out.echo(shown)
    const command = ownCommand(text)
    const parsed = readLine(text, this.#commands().commands)
    if (command !== null) await this.#runOwn(command, false)
    else if (parsed.type === 'command') await this.#command(parsed)
    else if (parsed.type === 'unknown') this.say(unknownLine(parsed))
    else if (text.trim() !== '') await this.#message(text)
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #command({ command, args }: TypedCommand): Promise<void> {
    try {
      const to = {
        ...{ written: this.#out, console: this.#console },
        typed: (line: string) => this.#typed(line),
        change: (change: SessionChange) => this.#change(change),
        display: this.#options.display,
      }
      for (const output of await runCommand(command, args, this.#commands())) await showOutput(output, to)
      const { keys, isVi } = this.#options.display
      if (command.name === 'help') this.#out.lines.write(renderTable({ rows: keysHelp(keys, isVi) }, this.#out.lines))
    } catch (error) {
      this.say(describeFailure(error).line)
    }
    this.#showBar()
  }

  /** A line that a command wants typed. */
  async #typed(line: string): Promise<void> {
    const parsed = readLine(line, this.#commands().commands)
    if (parsed.type === 'command') await this.#command(parsed)
  }

  async #change(change: SessionChange): Promise<void> {
    switch (change.type) {
      case 'new-in':
        this.#cwd = change.cwd
        return this.#change({ type: 'new' })
      case 'new':
        this.#title = null
        this.#own.forget()
        return this.switchSession(null)
      case 'open': {
        const session = await (await this.#options.runtime.storage()).sessions.get(change.sessionId)
        await this.switchSession(session)
        this.#title = null
        if (change.recap)
          this.#out.lines.write(createRecap(this.session.entries, this.#options.display.exchanges, this.#out.lines))
        return this.say(`Now in ${session?.title ?? change.sessionId}, with ${this.session.model}.`)
      }
      case 'send':
        return this.turn(change.text)
      case 'resume':
        return this.turn({ resume: true })
      case 'queue':
        return this.enqueue(change.text)
      case 'yolo':
        this.#isYolo = !this.#isYolo
        this.session.handle.setPermissions(this.#permissions)
        return this.say(
          this.#isYolo
            ? 'YOLO is on: dangerous commands run without asking in this conversation. A hard floor stays.'
            : 'YOLO is off: dangerous commands are asked for again.',
        )
      case 'details': {
        const known = this.session.agent.entries()
        const details = renderDetails(known.length > 0 ? known : this.session.entries, change.call, this.#out.lines)
        if (details === null) return this.say(`There are not so many calls yet.`)
        return void this.#out.lines.write(details)
      }
      case 'thoughts':
        this.#showsThoughts = change.shown
        return this.say(
          change.shown
            ? 'What the model thinks is shown from here on, where its provider tells. display.show_reasoning keeps it so.'
            : 'What the model thinks is not shown from here on.',
        )
      case 'copy':
        return this.say(this.#console.copy(change.text))
      case 'attach':
        return this.#attach(change.file)
      case 'display':
        return this.#changeDisplay(change)
      case 'reload':
        return this.#reload()
      case 'leave':
        return this.leave()
      case 'shortened':
        return
      default:
        change satisfies never
    }
  }

  async #changeDisplay({ setting, value }: SessionChange & { readonly type: 'display' }): Promise<void> {
    const { display } = this.#options
    let wanted = value
    if (wanted === undefined) {
      const { values, now } = await display.choices(setting)
      const labels = values.map((label) => (label === now ? `${label} (now)` : label))
      const first = Math.max(0, values.indexOf(now))
      const index = await chooseOne(this.#console, { title: `/${setting}`, labels, first })
      if (index === null) return
      wanted = values[index]!
    }
    for (const line of await display.change(setting, wanted)) this.say(line)
    this.#showBar()
  }

  /** Leaves the home, to come back to it as it is now. */
  #reload(): void {
    if (this.session.handle.isAtWork) {
      this.say('Tasks or programs of this session are at work and would end with it. /agents shows the tasks.')
      return
    }
    this.#isReloading = true
    this.leave('reload')
  }

  /** Puts an image into the line. */
  async #attach(file: string | undefined): Promise<void> {
    const reference = await this.#attachments.add(file, this.#commandSession().runOwn, this.#ended.signal)
    this.#console.setDraft(`${this.#console.draft()}${reference}`)
  }

  onDropped(path: string): void {
    this.#attachments.dropped(path)
  }

  async #message(text: string): Promise<void> {
    try {
      await this.turn(await this.#attachments.with(text))
    } catch (error) {
      this.say(describeFailure(error).line)
    }
  }

  async turn(input: RunInput): Promise<void> {
    // One that began at this moment comes first in the session, and so on the screen.
    if (this.#wokenTurn) await this.#hear()
    await this.#show(this.session.handle.send(this.#own.before(input)))
  }

  /** Runs what the person typed behind `!`; `aside` while the agent may be using the shell. Never rejects. */
  #runOwn(command: string, aside: boolean): Promise<void> {
    return this.#own.run(command, { session: this.session, console: this.#console, aside })
  }

  async #show(turn: Turn): Promise<void> {
    const { session } = this
    let isCompleted = false
    try {
      isCompleted = await showTurn(turn, {
        ...{ session, console: this.#console, written: this.#out, display: this.#options.display },
        showsThoughts: () => this.#showsThoughts,
        waiting: () => this.#waitingLines(),
        onStatus: (showStatus) => {
          this.#interruptedAtMs = Number.NEGATIVE_INFINITY
          this.#turn = { showStatus }
        },
        onEvent: ({ type }) => {
          if (type === 'tool-end') this.#processes.see(session.processes())
          if (type === 'usage-update') this.#showBar()
        },
        onResult: () => this.#storeTitle(),
      })
    } catch (error) {
      this.say(describeFailure(error).line)
    } finally {
      this.#turn = null
      this.#showBar()
    }
    await this.#takeLate(isCompleted)
  }

  /** What was said too late for a run starts the next one, unless the last one was not wanted or failed. */
  async #takeLate(isCompleted: boolean): Promise<void> {
    const late = this.#late.splice(0)
    if (late.length === 0) return
    for (const text of late) this.#out.echo(text)
    if (isCompleted && !this.#isLeaving) await this.turn({ resume: true })
    else this.say('This goes out with your next message.')
  }

  async #storeTitle(): Promise<void> {
    if (this.#title === null) return
    const title = this.#title
    this.#title = null
    await (await this.#options.runtime.storage()).sessions.update(this.session.agent.sessionId, { title })
  }

  #waitingLines(): readonly string[] {
    const steering = this.#steering.map((text) => `↪ ${text}`)
    const waiting = this.#waiting.map(({ shown }) => `queued: ${shown}`)
    const lines = [...steering, ...waiting].map(printable)
    const left = lines.length - MAX_SHOWN_WAITING
    return left > 0 ? [...lines.slice(0, MAX_SHOWN_WAITING), `… ${left} more`] : lines
  }
}
