// A conversation, top to bottom:
//
//   lines come in at any time ─▶ a command that may run now runs now
//                             ─▶ during a run other lines wait, steer it or interrupt it
//   the loop takes what waits, one after the other, and is idle in between

import type { ChildInfo, RunInput } from '@hermes/agent-core'
import type { LineCandidate, TypedLine } from '@hermes/commands'
import {
  completeLine,
  describeSession,
  describeTask,
  offeredTo,
  PLAN_HINT,
  readLine,
  runCommand,
  unknownLine,
} from '@hermes/commands'
import type { ImagePart, ReasoningEffort, TextSource } from '@hermes/contracts/conversation'
import type { CommandContext, CommandOutput, CommandSession, SessionChange } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Turn } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { createCommandSession } from '@hermes/runtime'
import type { Bindings } from '../editor/bindings.js'
import type { Candidate } from '../editor/completion.js'
import type { Draft, SubmittedLine } from '../editor/editor.js'
import { describeFailure } from '../errors.js'
import type { Io, Output } from '../io.js'
import type { MarkdownStream } from '../markdown/markdown.js'
import { Blocks } from '../render/blocks.js'
import { renderDetails } from '../render/call-details.js'
import { renderFindings, renderTable } from '../render/command-table.js'
import { paintDiff } from '../render/diff.js'
import { createProgressView } from '../render/progress.js'
import { createRecap } from '../render/recap.js'
import type { Style } from '../render/style.js'
import { createStyle, printable, wrap } from '../render/style.js'
import { renderTasks, type ShownTask, tasksIn } from '../render/todo-list.js'
import type { Console, ConsoleHandlers } from './console.js'
import type { Display } from './display.js'
import type { OpenSession, OpenSessionOptions } from './open-session.js'
import { isPlanningSession, leaveSession, openSession } from './open-session.js'
import { describeEnd, ownCommand, reportCommand } from './own-command.js'
import type { Asker } from './questions.js'
import { readBar } from './read-bar.js'
import { createTurnStatus } from './turn-status.js'
import { ProcessWatch } from './watch-processes.js'

/** Options of {@link Conversation}. */
interface ConversationOptions extends Omit<OpenSessionOptions, 'asker' | 'permissions' | 'onWakeUp' | 'onRest'> {
  readonly display: Display
  /** Whether what the model thinks is shown at first. */
  readonly showsThoughts: boolean
  readonly yolo: boolean
  /** Lines that wait already. */
  readonly waiting: readonly Waiting[]
  /** Chosen for the session it begins with; `null` goes back to what is configured. Default: as the session has it. */
  readonly reasoningEffort?: ReasoningEffort | null
  /** Stands in the line that is written first. Default: nothing. */
  readonly firstWords?: string
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
/** They run as the person, with all they can reach. */
const OWN: readonly TextSource[] = [{ type: 'person', name: 'a command that you ran' }]
const LEAVE_WITHIN_MS = 2_000
const TICK_MS = 1_000
const MAX_SHOWN_LINES = 10
const MAX_SHOWN_WAITING = 4
const MAX_SHOWN_CHILDREN = 5
const OFFERED_SESSIONS = 200
/** More options than keys pick are searched. */
const MAX_NUMBERED = 9
const COMPLETED_FOR_MS = 5_000
const MAX_PRINTED_TASKS = 30

/** A person and an agent in a terminal. */
export class Conversation implements ConsoleHandlers {
  readonly #options: ConversationOptions
  readonly #waiting: Waiting[]
  #isYolo: boolean
  #showsThoughts: boolean
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
  #isReloading = false
  #interruptedAtMs = Number.NEGATIVE_INFINITY
  #steering: string[] = []
  /** Notes that no tool result could carry; the agent keeps them for the next turn. */
  #late: string[] = []
  /** A run that began by itself and is not shown yet. */
  #wokenTurn: Turn | null = null
  #stopWatching: () => void = () => undefined
  readonly #processes = new ProcessWatch((line) => this.#announce(line))
  /** What the run under way has written. */
  #blocks: Blocks | null = null
  readonly #ended = new AbortController()
  /** Commands that the person runs themselves, and what came of those that the model has not seen. */
  readonly #ownCommands = new Set<AbortController>()
  #ran: string[] = []
  /** Images that the person attached or dropped: what was pasted is no file. */
  readonly #attached = new Map<string, ImagePart | null>()
  #completed: { key: string; atMs: number; candidates: Promise<readonly LineCandidate[]> } | null = null
  #abandon: () => void = () => undefined
  readonly #abandoned = new Promise<void>((resolve) => (this.#abandon = resolve))

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#waiting = [...options.waiting]
    this.#isYolo = options.yolo
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
    const { reasoningEffort, plan, firstWords } = this.#options
    if (firstWords !== undefined) console.setDraft(firstWords)
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
      output: {
        ...this.#console.output,
        write: (text) => {
          this.#blocks?.begin('calls')
          this.output.write(text)
        },
      },
      pick: (question, signal) => this.#console.pick(question, signal),
    }
    const onWakeUp = (turn: Turn) => {
      this.#wokenTurn = turn
      this.#wake()
    }
    const onRest = (line: string) => this.#announce(line)
    const opened = await openSession(
      { runtime, host, request, asker, permissions: this.#permissions, onWakeUp, onRest },
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
    if (!this.isBusy) this.output.write('\n')
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
    const { sessions } = await this.runtime.storage()
    const stored = await sessions.list({ limit: OFFERED_SESSIONS })
    return stored.map((session) => ({ text: session.id, detail: describeSession(session) }))
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

  onLine(line: SubmittedLine): void {
    this.#options.remember(line.draft)
    const command = ownCommand(line.text)
    if (command !== null && this.isBusy) {
      this.#echo(line.shown)
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

  #lineDuringRun({ text, shown, how }: SubmittedLine): void {
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
      default:
        mode satisfies never
    }
  }

  onInterrupt(): void {
    if (this.#stopOwnCommands()) return
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
    if (!this.#stopOwnCommands() && this.isBusy) this.stop()
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
    this.output.write('\n')
    if (turn) await this.#show(turn)
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #handle({ text, shown }: Waiting): Promise<void> {
    this.#echo(shown)
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
      for (const output of await runCommand(command, args, this.#commands())) await this.#showOutput(output)
      if (command.name === 'help')
        this.output.write(
          renderTable({ rows: keysHelp(this.#options.display.keys, this.#options.display.isVi) }, this.output),
        )
    } catch (error) {
      this.say(describeFailure(error).line)
    }
    this.#showBar()
  }

  async #showOutput(output: CommandOutput): Promise<void> {
    switch (output.type) {
      case 'text':
        if (output.format === 'diff') this.output.write(`${paintDiff(printable(output.text), this.style)}\n`)
        else this.say(output.text)
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
        const isSearch = options.length > MAX_NUMBERED
        const answer = await this.#console.pick({
          title: printable(output.question),
          options,
          freeText: false,
          isSearch,
        })
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
        this.#ran = []
        return this.switchSession(null)
      case 'open': {
        const session = await (await this.#options.runtime.storage()).sessions.get(change.sessionId)
        await this.switchSession(session)
        this.#title = null
        if (change.recap)
          this.output.write(createRecap(this.session.entries, this.#options.display.exchanges, this.output))
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
        const details = renderDetails(known.length > 0 ? known : this.session.entries, change.call, this.output)
        if (details === null) return this.say(`There are not so many calls yet.`)
        return void this.output.write(details)
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
      const options = values.map((label) => ({ label: label === now ? `${label} (now)` : label }))
      const isSearch = options.length > MAX_NUMBERED
      const first = Math.max(0, values.indexOf(now))
      const answer = await this.#console.pick({ title: `/${setting}`, options, freeText: false, isSearch, first })
      if (answer.type !== 'option') return
      wanted = values[answer.index]!
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
    const { place } = this.#options
    const { imagePath, imageReference, pastedImage } = await import('./attach-image.js')
    const [path, image] =
      file === undefined
        ? await pastedImage(this.#commandSession().runOwn, place, this.#ended.signal)
        : [await imagePath(file, place), null]
    this.#attached.set(path, image)
    this.#console.setDraft(`${this.#console.draft()}${imageReference(path)}`)
  }

  onDropped(path: string): void {
    this.#attached.set(path, null)
  }

  async #message(text: string): Promise<void> {
    if (this.#attached.size === 0) return this.turn(text)
    try {
      const { withAttached } = await import('./attach-image.js')
      const parts = await withAttached(text, this.#attached)
      await this.turn(typeof parts === 'string' ? parts : { content: parts })
    } catch (error) {
      this.say(describeFailure(error).line)
    }
  }

  async turn(input: RunInput): Promise<void> {
    // One that began at this moment comes first in the session, and so on the screen.
    if (this.#wokenTurn) await this.#hear()
    await this.#show(this.session.handle.send(this.#withOwnCommands(input)))
  }

  /** What the person ran since their last message goes before the next one. */
  #withOwnCommands(input: RunInput): RunInput {
    const words =
      typeof input === 'string' ? [{ type: 'text', text: input } as const] : 'content' in input ? input.content : null
    if (words === null || this.#ran.length === 0) return input
    const reports = this.#ran
      .splice(0)
      .map((text) => ({ type: 'text', text, origin: 'external', sources: OWN }) as const)
    return { content: [...reports, ...words] }
  }

  /** Runs what the person typed behind `!`; `aside` while the agent may be using the shell. Never rejects. */
  async #runOwn(command: string, aside: boolean): Promise<void> {
    const stop = new AbortController()
    this.#ownCommands.add(stop)
    const signal = AbortSignal.any([stop.signal, this.#ended.signal])
    if (!aside) this.#console.setStatus([`· Esc stops · ${printable(command)}`])
    try {
      const onOutput = (text: string) => this.#stream.write(printable(text))
      const result = await this.session.runOwnCommand(command, { signal, onOutput, aside })
      if (this.#isMidLine) this.#stream.write('\n')
      const end = describeEnd(result)
      if (end !== null) this.say(end)
      this.#ran.push(reportCommand(command, result))
    } catch (error) {
      this.say(describeFailure(error).line)
    } finally {
      this.#ownCommands.delete(stop)
    }
  }

  /** Ends the commands the person runs; `false` when there are none. */
  #stopOwnCommands(): boolean {
    for (const stop of this.#ownCommands) stop.abort()
    return this.#ownCommands.size > 0
  }

  async #show(turn: Turn): Promise<void> {
    const { agent, children, processes, entries } = this.session
    const { isLive } = this.#console
    const markdown = await this.#markdown()
    const blocks = new Blocks((space) => this.output.write(space))
    this.#blocks = blocks
    const showsThoughts = () => this.#showsThoughts
    const { display } = this.#options
    const calls = { calls: () => display.calls, diffs: display.diffs }
    const look = { isLive, blocks, showsThoughts, ...calls, ...(markdown && { markdown }) }
    const view = createProgressView({ output: this.#stream, text: true, ...look })
    const known = agent.entries()
    const status = createTurnStatus(Date.now(), tasksIn(known.length > 0 ? known : entries))
    const showTasks = (tasks: readonly ShownTask[] | null) => {
      if (!isLive || tasks === null) return
      blocks.begin('calls')
      this.output.write(renderTasks(tasks, MAX_PRINTED_TASKS, this.output))
    }
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
        showTasks(status.takeTasks(false))
        if (event.type === 'tool-end') this.#processes.see(processes())
        if (event.type === 'usage-update') this.#showBar()
        if (event.type !== 'message-delta' && event.type !== 'reasoning-delta') showStatus()
      }
      const result = await turn.result
      showTasks(status.takeTasks(true))
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
      this.#blocks = null
      this.#showBar()
    }
    await this.#takeLate(isCompleted)
  }

  /** Loaded while the model thinks; what no person looks at stays as the model wrote it. */
  async #markdown(): Promise<MarkdownStream | null> {
    const { output } = this.#console
    if (!output.isTTY || !this.#options.display.drawsMarkdown) return null
    const { createMarkdownStream } = await import('../markdown/markdown.js')
    return createMarkdownStream({ columns: () => output.columns(), style: this.style })
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
    const { accent, dim, prompt } = this.style
    const time = this.#options.display.time(new Date())
    const first = `${time === '' ? '' : dim(time)}${accent(prompt)}`
    const marked = head.map((line, index) => `${index === 0 ? first : ' '} ${line}`)
    this.output.write(`\n${marked.join('\n')}\n`)
  }
}

/** What is at work, a line each, as many as fit. */
function childLines(children: readonly ChildInfo[], nowMs: number, most: number): readonly string[] {
  const open = children.filter(({ endedAtMs }) => endedAtMs === null)
  const lines = open.map((child) => `  ${printable(describeTask(child, nowMs))}`)
  return lines.length > most ? [...lines.slice(0, most - 1), `  … ${lines.length - most + 1} more tasks`] : lines
}

/** What keys do in a conversation, for its help. */
function keysHelp({ name }: Bindings, isVi: boolean): readonly { readonly cells: readonly string[] }[] {
  const rows = [
    [name('submit'), 'send; during a run: queue for the next turn'],
    [name('newline'), 'new line (also \\ before Enter)'],
    [name('steer'), 'send to the run under way'],
    ['/ and @', 'commands; files and sessions to attach: Tab or Enter takes one, Esc closes'],
    ['! COMMAND', 'run it yourself; the model sees it with your next message'],
    [name('complete'), 'complete commands and file names'],
    [name('stop'), `stop the run; what was queued comes back to the line${isVi ? ' (pressed twice)' : ''}`],
    [name('interrupt'), 'the same; without a run: clear the line; twice: leave'],
    [name('search'), 'search earlier lines'],
    [name('editor'), 'edit the line in $VISUAL or $EDITOR (also Ctrl-X Ctrl-E)'],
    [name('stash'), 'put the line aside; it comes back after the next one'],
  ]
  return rows.map((cells) => ({ cells }))
}
