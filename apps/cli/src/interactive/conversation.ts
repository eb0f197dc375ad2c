// A conversation, top to bottom:
//
//   lines come in at any time ─▶ a command that may run now runs now
//                             ─▶ during a run other lines wait, steer it or interrupt it
//   the loop takes what waits, one after the other, and is idle in between
import type { RunInput } from '@hermes/agent-core'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Runtime } from '@hermes/runtime'
import { describeFailure } from '../errors.js'
import type { Output } from '../io.js'
import { createProgressView } from '../render/progress.js'
import { createStyle, printable, type Style, wrap } from '../render/style.js'
import { BackgroundNews } from './background-news.js'
import { childLines } from './child-lines.js'
import type { Console, ConsoleHandlers, EnteredLine } from './console.js'
import { isPlanningSeat, PLAN_HINT } from './plan-hint.js'
import type { Asker } from './questions.js'
import { leaveSeat, type Seat, type SeatOptions, takeSeat } from './seat.js'
import { parseLine } from './slash-commands.js'
import { runCommand } from './slash-handlers.js'
import type { Talk } from './talk.js'
import { createTurnStatus } from './turn-status.js'

/** What Enter does with a line while a run is under way. */
type BusyMode = 'queue' | 'steer' | 'interrupt'

/** Options of {@link Conversation}. */
export interface ConversationOptions extends Omit<SeatOptions, 'asker' | 'permissions'> {
  readonly busyMode: BusyMode
  readonly yolo: boolean
  /** Begins in plan mode. */
  readonly plan: boolean
  /** Keeps a line for the next conversation. */
  readonly remember: (line: string) => void
}

interface Waiting {
  readonly text: string
  readonly shown: string
}

const USER_EXIT = 'user_exit'
const LEAVE_WITHIN_MS = 2_000
const TICK_MS = 1_000
const MAX_SHOWN_LINES = 10
const MAX_SHOWN_WAITING = 4
const MAX_SHOWN_CHILDREN = 5

/** A person and an agent in a terminal. */
export class Conversation implements ConsoleHandlers, Talk {
  readonly #options: ConversationOptions
  readonly #waiting: Waiting[] = []
  #isYolo: boolean
  title: string | null = null
  lastText: string | null = null
  /** Why the person left, in a word. */
  endReason = USER_EXIT
  /** Whether the model is in the middle of a line. */
  #isMidLine = false
  #opened: Console | null = null
  #seat: Seat | null = null
  #namedBy: Seat | null = null
  #wake: () => void = () => undefined
  #turn: { readonly showStatus: () => void } | null = null
  #isLeaving = false
  #interruptedAtMs = Number.NEGATIVE_INFINITY
  #steering: string[] = []
  /** Notes that no tool result could carry; the agent keeps them for the next turn. */
  #late: string[] = []
  readonly #news: BackgroundNews
  #abandon: () => void = () => undefined
  readonly #abandoned = new Promise<void>((resolve) => (this.#abandon = resolve))

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#isYolo = options.yolo
    this.#news = new BackgroundNews({
      storage: () => options.runtime.storage(),
      notified: ({ id, state }) => {
        if (this.#isLeaving) return
        this.say(`Task ${id} ${state}.`)
        this.#wake()
      },
    })
  }

  get isYolo(): boolean {
    return this.#isYolo
  }

  set isYolo(isYolo: boolean) {
    this.#isYolo = isYolo
    this.seat.handle.setPermissions(this.#permissions)
  }

  get #permissions(): SeatOptions['permissions'] {
    return this.#isYolo ? 'approve' : 'ask'
  }

  get runtime(): Runtime {
    return this.#options.runtime
  }

  get #console(): Console {
    return this.#opened!
  }

  get seat(): Seat {
    return this.#seat!
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
  async run(console: Console, session: SessionInfo | null, greet: (seat: Seat) => void): Promise<void> {
    this.#opened = console
    await this.sit(session)
    greet(this.seat)
    if (this.#options.plan) await this.seat.agent.plan()
    if (isPlanningSeat(this.seat)) this.say(PLAN_HINT)
    if (session) await this.#announceInbox()
    if (this.seat.isAnswered) await Promise.race([this.turn({ resume: true }), this.#abandoned])
    console.setStatus(null)
    while (!this.#isLeaving) {
      const next = this.#waiting.shift()
      if (next) await Promise.race([this.#handle(next), this.#abandoned])
      else if (this.#news.isDue) await Promise.race([this.#hear(), this.#abandoned])
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    await leaveSeat(this.seat, this.endReason)
  }

  async sit(session: SessionInfo | null): Promise<void> {
    const { runtime, host, request } = this.#options
    const asker: Asker = {
      output: this.output,
      pick: (question, signal) => this.#console.pick(question, signal),
    }
    const seat = await takeSeat({ runtime, host, request, asker, permissions: this.#permissions }, session)
    const former = this.#seat
    this.#seat = seat
    if (former?.handle.id === seat.handle.id) former.stopAsking()
    else if (former) await leaveSeat(former, 'left')
    this.#news.watch(seat)
  }

  async changeModel(change: Parameters<Seat['changeModel']>[0]): Promise<void> {
    this.#seat = await this.seat.changeModel(change)
    this.#news.watch(this.#seat)
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
    this.#seat?.handle.interrupt('the user left')
    this.#wake()
  }

  stop(): void {
    this.#interruptedAtMs = performance.now()
    this.seat.handle.interrupt('interrupted from the terminal')
    if (this.#waiting.length === 0) return
    const draft = [...this.#waiting.splice(0).map(({ text }) => text), this.#console.draft()]
    this.#console.setDraft(draft.filter((text) => text !== '').join('\n'))
  }

  async steer(text: string): Promise<void> {
    if (!this.isBusy) {
      this.enqueue(text)
      return
    }
    this.#steering.push(text)
    this.#turn?.showStatus()
    const how = await this.seat.handle.steer(text)
    this.#steering.splice(this.#steering.indexOf(text), 1)
    this.#turn?.showStatus()
    if (how === 'delivered') this.say(`↪ ${text}`)
    else this.#late.push(text)
  }

  onLine(line: EnteredLine): void {
    this.#options.remember(line.text)
    const parsed = parseLine(line.text)
    if (parsed.type === 'command' && parsed.whileBusy && this.isBusy) {
      this.#echo(line.shown)
      // What it throws is said, never passed on.
      void this.#command(parsed.name, parsed.args)
    } else if (!this.isBusy || parsed.type !== 'text') this.enqueue(line.text, line.shown)
    else this.#lineDuringRun(line)
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
        this.seat.handle.interrupt('the user said something else')
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
    const count = await this.#news.waiting(this.seat)
    if (count > 0)
      this.say(`${count === 1 ? 'A result' : `${count} results`} of background tasks: with your next message.`)
  }

  /** What came of tasks in the background while nothing ran; a run under way has heard of it by itself. */
  async #hear(): Promise<void> {
    this.#news.settle()
    if ((await this.#news.waiting(this.seat)) > 0) await this.turn({ resume: true })
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #handle({ text, shown }: Waiting): Promise<void> {
    this.#echo(shown)
    const parsed = parseLine(text)
    if (parsed.type === 'command') await this.#command(parsed.name, parsed.args)
    else if (parsed.type === 'unknown')
      this.say(`Unknown command ${parsed.typed}. The nearest is ${parsed.nearest}; /help lists all.`)
    else if (text.trim() !== '') await this.turn(text)
    if (!this.#isLeaving && this.#waiting.length === 0) this.#console.setStatus(null)
  }

  async #command(name: Parameters<typeof runCommand>[1], args: string): Promise<void> {
    try {
      await runCommand(this, name, args)
    } catch (error) {
      this.say(describeFailure(error).line)
    }
  }

  async turn(input: RunInput): Promise<void> {
    if (typeof input === 'string') this.lastText = input
    const { agent, handle, children } = this.seat
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
      const turn = handle.send(input)
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
      if (!isCompleted) this.#news.settle()
      if (isPlanningSeat(this.seat)) this.say(PLAN_HINT)
      if (isCompleted) this.#giveTitle()
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

  /** Once for each agent that answered; the next line is not kept waiting, and it never rejects. */
  #giveTitle(): void {
    if (this.#namedBy === this.seat) return
    this.#namedBy = this.seat
    void this.seat.nameSession()
  }

  async #storeTitle(): Promise<void> {
    if (this.title === null) return
    const title = this.title
    this.title = null
    await (await this.#options.runtime.storage()).sessions.update(this.seat.agent.sessionId, { title })
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
