// A conversation, top to bottom:
//
//   lines come in at any time ─▶ a command that may run now runs now
//                             ─▶ during a run other lines wait, steer it or interrupt it
//   the loop takes what waits, one after the other, and is idle in between

import type { ChildInfo, RunInput } from '@hermes/agent-core'
import type { TypedLine } from '@hermes/commands'
import { completeLine, describeTask, offeredTo, PLAN_HINT, readLine, runCommand, unknownLine } from '@hermes/commands'
import type { ReasoningEffort } from '@hermes/contracts/conversation'
import type { CommandContext, CommandOutput, CommandSession, SessionChange } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Turn } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { createCommandSession } from '@hermes/runtime'
import { describeFailure } from '../errors.js'
import type { Output } from '../io.js'
import { renderFindings, renderTable } from '../render/command-table.js'
import { createProgressView } from '../render/progress.js'
import { createRecap } from '../render/recap.js'
import type { Style } from '../render/style.js'
import { createStyle, printable, wrap } from '../render/style.js'
import type { Console, ConsoleHandlers, EnteredLine } from './console.js'
import type { OpenSession, OpenSessionOptions } from './open-session.js'
import { isPlanningSession, leaveSession, openSession } from './open-session.js'
import type { Asker } from './questions.js'
import { createTurnStatus } from './turn-status.js'

/** What Enter does with a line while a run is under way. */
type BusyMode = 'queue' | 'steer' | 'interrupt'

/** Options of {@link Conversation}. */
export interface ConversationOptions extends Omit<OpenSessionOptions, 'asker' | 'permissions' | 'onWakeUp'> {
  readonly busyMode: BusyMode
  readonly yolo: boolean
  /** Chosen for the session it begins with; `null` goes back to what is configured. Default: as the session has it. */
  readonly reasoningEffort?: ReasoningEffort | null
  /** Begins in plan mode. */
  readonly plan: boolean
  /** Keeps a line for the next conversation. */
  readonly remember: (line: string) => void
  /** Who sits at the terminal. */
  readonly user: string
}

type TypedCommand = TypedLine & { readonly type: 'command' }

interface Waiting {
  readonly text: string
  readonly shown: string
}

const CHANGES = ['new', 'open', 'send', 'resume', 'queue', 'shortened', 'yolo', 'leave'] as const
const USER_EXIT = 'user_exit'
const LEAVE_WITHIN_MS = 2_000
const TICK_MS = 1_000
const MAX_SHOWN_LINES = 10
const MAX_SHOWN_WAITING = 4
const MAX_SHOWN_CHILDREN = 5

/** A person and an agent in a terminal. */
export class Conversation implements ConsoleHandlers {
  readonly #options: ConversationOptions
  readonly #waiting: Waiting[] = []
  #isYolo: boolean
  /** A name for a session that is not stored yet. */
  #title: string | null = null
  /** Why the person left, in a word. */
  endReason = USER_EXIT
  /** Whether the model is in the middle of a line. */
  #isMidLine = false
  #opened: Console | null = null
  #session: OpenSession | null = null
  #wake: () => void = () => undefined
  #turn: { readonly showStatus: () => void } | null = null
  #isLeaving = false
  #interruptedAtMs = Number.NEGATIVE_INFINITY
  #steering: string[] = []
  /** Notes that no tool result could carry; the agent keeps them for the next turn. */
  #late: string[] = []
  /** A run that began by itself and is not shown yet. */
  #wokenTurn: Turn | null = null
  #stopWatching: () => void = () => undefined
  readonly #ended = new AbortController()
  #abandon: () => void = () => undefined
  readonly #abandoned = new Promise<void>((resolve) => (this.#abandon = resolve))

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#isYolo = options.yolo
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

  get isBusy(): boolean {
    return this.#turn !== null
  }

  get style(): Style {
    return createStyle(this.#console.output)
  }

  /** Whole lines; they never begin in the middle of one that the model is writing. */
  get output(): Output {
    const { output } = this.#console
    const write = (text: string) => {
      output.write(this.#isMidLine ? `\n${text}` : text)
      this.#isMidLine = false
    }
    return { ...output, write }
  }

  get #stream(): Output {
    const { output } = this.#console
    const write = (text: string) => {
      this.#isMidLine = !text.endsWith('\n')
      output.write(text)
    }
    return { ...output, write }
  }

  /** Talks until the person leaves. */
  async run(console: Console, session: SessionInfo | null, greet: (opened: OpenSession) => void): Promise<void> {
    this.#opened = console
    await this.switchSession(session)
    greet(this.session)
    const { reasoningEffort, plan } = this.#options
    if (reasoningEffort !== undefined) await this.session.agent.setReasoningEffort(reasoningEffort)
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
      output: this.output,
      pick: (question, signal) => this.#console.pick(question, signal),
    }
    const onWakeUp = (turn: Turn) => {
      this.#wokenTurn = turn
      this.#wake()
    }
    const opened = await openSession(
      { runtime, host, request, asker, permissions: this.#permissions, onWakeUp },
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
  }

  /** Says when a task in the background has ended. */
  #watchTasks({ children }: OpenSession): void {
    this.#stopWatching()
    this.#stopWatching = children.watch(({ id, state, isBackground, endedAtMs }) => {
      if (isBackground && endedAtMs !== null && !this.#isLeaving) this.say(`Task ${id} ${state}.`)
    })
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

  /** What the last word of an unfinished line may become. */
  complete(line: string): Promise<readonly string[]> {
    return completeLine(line, this.#commands())
  }

  say(text: string): void {
    this.output.write(`${wrap(printable(text), this.#console.output.columns())}\n`)
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

  onLine(line: EnteredLine): void {
    this.#options.remember(line.text)
    const parsed = readLine(line.text, this.#commands().commands)
    if (parsed.type === 'command' && this.isBusy) this.#commandDuringRun(parsed, line)
    else if (!this.isBusy || parsed.type !== 'text') this.enqueue(line.text, line.shown)
    else this.#lineDuringRun(line)
  }

  #commandDuringRun(typed: TypedCommand, { text, shown }: EnteredLine): void {
    const { name, duringRun = 'waits' } = typed.command
    switch (duringRun) {
      case 'allowed':
        this.#echo(shown)
        // What it throws is said, never passed on.
        void this.#command(typed)
        break
      case 'refused':
        this.#echo(shown)
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

  #lineDuringRun({ text, shown, how }: EnteredLine): void {
    const mode = how === 'steer' ? 'steer' : this.#options.busyMode
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
      default:
        mode satisfies never
    }
  }

  onInterrupt(): void {
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
    this.#echo(shown)
    const parsed = readLine(text, this.#commands().commands)
    if (parsed.type === 'command') await this.#command(parsed)
    else if (parsed.type === 'unknown') this.say(unknownLine(parsed))
    else if (text.trim() !== '') await this.turn(text)
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #command({ command, args }: TypedCommand): Promise<void> {
    try {
      for (const output of await runCommand(command, args, this.#commands())) await this.#showOutput(output)
      if (command.name === 'help') this.output.write(renderTable({ rows: KEYS_HELP }, this.output))
    } catch (error) {
      this.say(describeFailure(error).line)
    }
  }

  async #showOutput(output: CommandOutput): Promise<void> {
    switch (output.type) {
      case 'text':
        this.say(output.text)
        break
      case 'table':
        if (output.rows.length === 0) this.say(output.empty)
        else this.output.write(renderTable(output, this.output))
        break
      case 'findings':
        this.output.write(renderFindings(output.findings, this.output))
        break
      case 'choice': {
        const options = output.options.map(({ label }) => ({ label: printable(label) }))
        const answer = await this.#console.pick({ title: printable(output.question), options, freeText: false })
        if (answer.type === 'option') await this.#line(output.options[answer.index]!.line)
        break
      }
      case 'form': {
        const answers: string[] = []
        for (const { description } of output.fields) {
          const answer = await this.#console.pick({
            title: `${output.title}\n${description}`,
            options: [],
            freeText: true,
          })
          if (answer.type !== 'text') return this.say(output.title)
          answers.push(answer.text)
        }
        await this.#line([output.line, ...answers].join(' '))
        break
      }
      case 'change':
        await this.#change(output.change)
        break
      default:
        output satisfies never
    }
  }

  /** A line that a command wants typed. */
  async #line(line: string): Promise<void> {
    const parsed = readLine(line, this.#commands().commands)
    if (parsed.type === 'command') await this.#command(parsed)
  }

  async #change(change: SessionChange): Promise<void> {
    switch (change.type) {
      case 'new':
        this.#title = null
        return this.switchSession(null)
      case 'open': {
        const session = await (await this.#options.runtime.storage()).sessions.get(change.sessionId)
        await this.switchSession(session)
        this.#title = null
        if (change.recap) this.output.write(createRecap(this.session.entries, this.output))
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
      case 'leave':
        return this.leave()
      case 'shortened':
        return
      default:
        change satisfies never
    }
  }

  async turn(input: RunInput): Promise<void> {
    // One that began at this moment comes first in the session, and so on the screen.
    if (this.#wokenTurn) await this.#hear()
    await this.#show(this.session.handle.send(input))
  }

  async #show(turn: Turn): Promise<void> {
    const { agent, children } = this.session
    const view = createProgressView({ output: this.#stream, text: true })
    const status = createTurnStatus(Date.now())
    const showStatus = () =>
      this.#console.setStatus([
        ...childLines(children.list(), Date.now(), MAX_SHOWN_CHILDREN),
        ...status.lines(agent.activity(), Date.now()),
        ...this.#waitingLines(),
      ])
    const ticker = setInterval(showStatus, TICK_MS)
    let isCompleted = false
    this.#interruptedAtMs = Number.NEGATIVE_INFINITY
    this.#turn = { showStatus }
    try {
      for await (const event of turn) {
        view.show(event)
        status.see(event)
        if (event.type !== 'message-delta' && event.type !== 'reasoning-delta') showStatus()
      }
      const result = await turn.result
      if (result.status === 'interrupted') this.say('Stopped.')
      if (result.status === 'parked')
        this.say('Nobody answered in time. Answer with hermes approvals, or say anything to be asked again.')
      if (result.error) this.say(result.error.message)
      await this.#storeTitle()
      isCompleted = result.status === 'completed'
      if (isPlanningSession(this.session)) this.say(PLAN_HINT)
    } catch (error) {
      this.say(describeFailure(error).line)
    } finally {
      clearInterval(ticker)
      this.#turn = null
    }
    await this.#takeLate(isCompleted)
  }

  /** What was said too late for a run starts the next one, unless the last one was not wanted or failed. */
  async #takeLate(isCompleted: boolean): Promise<void> {
    const late = this.#late.splice(0)
    if (late.length === 0) return
    for (const text of late) this.#echo(text)
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

  /** A line goes up into the output once it is taken. */
  #echo(shown: string): void {
    if (shown === '') return
    const lines = printable(shown).split('\n')
    const left = lines.length - MAX_SHOWN_LINES
    const head = left > 0 ? [...lines.slice(0, MAX_SHOWN_LINES), `… ${left} more lines`] : lines
    const marked = head.map((line, index) => `${index === 0 ? this.style.green('>') : ' '} ${line}`)
    this.output.write(`${marked.join('\n')}\n`)
  }
}

/** What is at work, a line each, as many as fit. */
function childLines(children: readonly ChildInfo[], nowMs: number, most: number): readonly string[] {
  const open = children.filter(({ endedAtMs }) => endedAtMs === null)
  const lines = open.map((child) => `  ${printable(describeTask(child, nowMs))}`)
  return lines.length > most ? [...lines.slice(0, most - 1), `  … ${lines.length - most + 1} more tasks`] : lines
}

/** What keys do in a conversation, for its help. */
const KEYS_HELP = [
  ['Enter', 'send; during a run: queue for the next turn'],
  ['Alt-Enter', 'new line (also Ctrl-J, or \\ before Enter)'],
  ['Alt-S', 'send to the run under way'],
  ['Tab', 'complete commands and file names'],
  ['Ctrl-C', 'stop the run, clear the line; twice: leave'],
].map((cells) => ({ cells }))
