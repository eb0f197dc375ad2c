import { type Clock, errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import type { Platform, PlatformButton, PlatformFile, PlatformMessage } from '@hermes/contracts/platform'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import { Breaker } from './breaker.js'
import { parseTarget } from './chat-target.js'
import { failureOf, platformError } from './platform-error.js'
import { splitMessage } from './split-message.js'

/** How many chats are written to at once, those that pause not counted; of one chat one message after the other. */
const AT_ONCE = 8
/**
 * How many texts a platform has been asked to take and has not answered yet: a process that is killed leaves that many of which nobody knows
 * whether they came. Two are as many as a bot may send: thirty a second, answered within 60 ms.
 */
const OFFERED_AT_ONCE = 2
/** One that the platform takes longer for holds up no other. */
const OFFERED_MS = 2_000
/** Another process may have written something. */
const LOOK_EVERY_MS = 1_000
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 300_000
const GIVE_UP_AFTER_MS = 24 * 3_600_000
const EDITS_OF_UNKNOWN_OUTCOME = 4
const REPEAT_MARK = '(This may be a repetition: the connection broke off while it was sent.)\n'

/** A row of the outbox, as far as it is sent. @see `OutboxMessage` of `@hermes/storage` */
export interface SendableMessage extends NewOutboxMessage {
  readonly mayBeSent: boolean
  readonly attempt: number
  readonly sentParts: number
  readonly platformIds: readonly string[]
  readonly createdAtMs: number
}

/** The outbox as a sender uses it. @see `Outbox` of `@hermes/storage` */
export interface SenderOutbox<Message extends SendableMessage> {
  take(options: { readonly platform: string; readonly leaseMs: number }): Promise<Message | null>
  offering(message: Message): Promise<void>
  accepted(message: Message, part: { readonly platformId: string; readonly leaseMs: number }): Promise<Message>
  settle(
    message: Message,
    outcome:
      | { readonly type: 'sent' }
      | { readonly type: 'retry' | 'perhaps'; readonly error: string; readonly dueAtMs: number }
      | { readonly type: 'failed'; readonly error: string },
  ): Promise<void>
}

/** What is written for a chat: the body of a message of the outbox. */
export interface Outgoing {
  /** Markdown, of any length. */
  readonly text: string
  /** Default `markdown`. */
  readonly markup?: 'markdown' | 'plain'
  readonly replyTo?: string
  /** Under the last part. */
  readonly buttons?: readonly (readonly PlatformButton[])[]
  readonly subject?: string
  /** Changes this message instead of sending one; where it cannot be changed nothing is sent. */
  readonly edits?: string
  /** The answer of the model that it is, as events of its run name it. */
  readonly messageId?: string
  /** The session that says it, where one does. */
  readonly sessionId?: string
  /** Who says it from elsewhere, in a word: the conversation of the chat hears of it. Default: that conversation says it. */
  readonly from?: string
  /** Whose conversation that is; `null` for the owner's. Default: not known to be of another person than the chat's. */
  readonly person?: string | null
  /** Such words may be those of somebody else. Default `false`. */
  readonly isExternal?: boolean
  /** The absolute path of a file that goes in place of the text; see `loadFile`. */
  readonly file?: string
}

/** Options of {@link sendOutbox}. */
interface SenderOptions<Message extends SendableMessage> {
  readonly platform: Platform
  readonly outbox: SenderOutbox<Message>
  /** Resolves when something was written, at the latest when the signal fires. Default: it is looked for each second. */
  readonly written?: (signal: AbortSignal) => Promise<void>
  /** The message that already shows the beginning of this answer, which is changed into it; `null` where there is none. */
  readonly bubbleOf?: (message: Message) => Promise<string | null>
  /** How long a message waits before it, or a part of it, is sent as a new one; milliseconds. One that is shown already does not. Default: not at all. */
  readonly pauseMs?: (message: Message) => number
  /** Whether an answer points at the message that it answers. Default `true`. */
  readonly replies?: boolean
  /** What is shown in place of the text of an answer, whose files go out after it. May be asked again for the same message. */
  readonly shownOf?: (message: Message, text: string) => Promise<string>
  /** Gives the file of a message; `null` where it does not go out. Rejects with `platform.rejected`. */
  readonly loadFile?: (message: Message, path: string) => Promise<PlatformFile | null>
  /** A message is not tried again, for the reason in `line`; what this writes for the person is there before that is written down. */
  readonly failed?: (message: Message, line: string) => Promise<unknown> | undefined
  /** A message is accepted whole; what this writes is there before that is written down. Where it rejects it is called again. */
  readonly arrived?: (message: Message) => Promise<unknown> | undefined
  /** Counts what the platform does not answer. Default: one of its own. */
  readonly breaker?: Breaker
  /** Nothing is taken while this says so. Must not throw. Default: never. */
  readonly isPaused?: () => boolean
  /** A message was sent whole. Must not throw. */
  readonly sent?: (message: Message) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Longer than any adapter takes for a message: what is given to another hand while it goes goes twice. That of a process that ended is free at once. */
const LEASE_MS = 6 * 60_000
/** What the store does not take is written again after so long, twice as long each time, while the message is held here. */
const FIRST_STORE_WAIT_MS = 250
const MAX_STORE_WAIT_MS = 15_000

/** Sends what is in the outbox for a platform until the signal fires, and waits for what is being sent then. Never rejects. */
export async function sendOutbox<Message extends SendableMessage>(
  options: SenderOptions<Message>,
  signal: AbortSignal,
): Promise<void> {
  const { outbox, platform, clock, logger } = options
  const sending = new Set<Promise<void>>()
  const gate = new Gate(OFFERED_AT_ONCE)
  const { breaker = new Breaker(clock) } = options
  let pausing = 0
  let look = new AbortController()
  const pause: Pause = async (ms) => {
    pausing++
    // Another message may go meanwhile.
    look.abort()
    try {
      await clock.sleep(ms, signal)
      return true
    } catch (error) {
      if (!signal.aborted) throw error
      return false
    } finally {
      pausing--
    }
  }
  while (!signal.aborted) {
    try {
      const isTrial = breaker.state.type === 'broken'
      const message =
        sending.size - pausing < AT_ONCE && breaker.lets && !options.isPaused?.()
          ? await outbox.take({ platform: platform.name, leaseMs: LEASE_MS })
          : null
      if (message) {
        if (isTrial) breaker.trying()
        const hands = { pause, gate, breaker, isTrial, signal }
        const done = deliver(options, message, hands).finally(() => sending.delete(done))
        sending.add(done)
        continue
      }
    } catch (error) {
      logger.warn('The outbox could not be read.', { platform: platform.name, error: errorLine(error) })
    }
    look = new AbortController()
    const ended = AbortSignal.any([signal, look.signal])
    const waits = [clock.sleep(LOOK_EVERY_MS, ended).catch(ignoreAbort), options.written?.(ended), ...sending]
    await Promise.race(waits.filter((wait) => wait !== undefined))
    look.abort()
  }
  await Promise.all(sending)
}

/** Resolves with whether the time is over: `false` where sending ends before. */
type Pause = (ms: number) => Promise<boolean>

/** What is written down of a part, before the platform is asked to take it and after it did. */
interface PartLog {
  /** The platform is asked, where nothing has to be written down before. */
  asking(): void
  offering(): Promise<void>
  accepted(platformId: string): Promise<void>
  /** Does what offers a text, as soon as few enough are offered. */
  inTurn<Result>(offer: () => Promise<Result>): Promise<Result>
}

/** Lets so many through at once, in order. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Resolves with what lets the next one through. */
  async pass(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

/** The platform did not answer, or does not know this account. */
const SILENT: ReadonlySet<string> = new Set(['unreachable', 'unknown_outcome', 'unauthorized', 'conflict'])

/** What a message that was taken is sent with. */
interface Hands {
  readonly pause: Pause
  readonly gate: Gate
  readonly breaker: Breaker
  /** It is the one that a platform is tried with which answered nothing. */
  readonly isTrial: boolean
  /** Sending is to end. */
  readonly signal: AbortSignal
}

/** Sends one message that was taken, and writes down what came of it. Never rejects. */
async function deliver<Message extends SendableMessage>(
  options: SenderOptions<Message>,
  message: Message,
  { pause, gate, breaker, isTrial, signal }: Hands,
): Promise<void> {
  const { outbox, clock, logger } = options
  const kept = <Result>(write: () => Promise<Result>) => writtenDown(write, { clock, signal })
  const { platform, key } = message
  let state = message
  /** Of the newest part. */
  let isOffered = false
  let isAnswered = false
  const settleAs = async (outcome: Parameters<typeof outbox.settle>[1]) => {
    try {
      await kept(async () => {
        if (outcome.type === 'failed') await options.failed?.(message, outcome.error)
        await outbox.settle(state, outcome)
      })
    } catch (cause) {
      // It is in another process's hands, or the store is gone for long: then it is taken again once its time is over.
      logger.warn('What came of a message could not be written down.', { platform, key, error: errorLine(cause) })
    }
  }
  try {
    const accepted = async (platformId: string) => {
      isAnswered = true
      // What the platform has and the store does not know would come twice.
      state = await kept(() => outbox.accepted(state, { platformId, leaseMs: LEASE_MS }))
    }
    const asking = () => {
      isOffered = true
      isAnswered = false
    }
    const offering = async () => {
      await outbox.offering(state)
      asking()
    }
    const inTurn = async <Result>(offer: () => Promise<Result>) => {
      const leave = await gate.pass()
      const isAnswered = new AbortController()
      clock.sleep(OFFERED_MS, isAnswered.signal).then(leave, leave)
      try {
        return await offer()
      } finally {
        isAnswered.abort()
      }
    }
    const log = { asking, offering, accepted, inTurn }
    if (!(await sendParts(options, message, { log, pause }))) {
      if (isOffered) breaker.answered()
      else breaker.unasked(isTrial)
      await settleAs({ type: 'retry', error: 'Sending ended before it.', dueAtMs: clock.now() })
      return
    }
    isAnswered = true
    if (isOffered) breaker.answered()
    else breaker.unasked(isTrial)
    await kept(async () => {
      await options.arrived?.(state)
      await outbox.settle(state, { type: 'sent' })
    })
    options.sent?.(state)
  } catch (error) {
    logger.warn('A message was not sent.', { platform, key, error: errorLine(error) })
    if (!isOffered) breaker.unasked(isTrial)
    else if (SILENT.has(failureOf(error).failure) && !isAnswered) breaker.failed(errorLine(error), isTrial)
    else breaker.answered()
    const outcome = outcomeOf(error, message, { nowMs: clock.now(), isOffered })
    await settleAs(outcome)
  }
}

/** Writes until the store takes it, for as long as the message is held; what was given to another hand is not written again. */
async function writtenDown<Result>(
  write: () => Promise<Result>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Result> {
  const untilMs = clock.now() + LEASE_MS / 2
  for (let waitMs = FIRST_STORE_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_STORE_WAIT_MS))
    try {
      return await write()
    } catch (error) {
      const isLost = HermesError.isInstance(error) && error.code === 'store.outbox_lost'
      if (isLost || signal.aborted || clock.now() + waitMs > untilMs) throw error
      await clock.sleep(waitMs, signal).catch(ignoreAbort)
    }
}

async function sendFile<Message extends SendableMessage>(
  { platform, loadFile }: SenderOptions<Message>,
  message: Message,
  { path, log }: { readonly path: string; readonly log: PartLog },
): Promise<void> {
  if (message.sentParts > 0) return
  const file = (await loadFile?.(message, path)) ?? null
  const limit = platform.abilities.files?.maxBytes ?? 0
  if (file === null) return
  if (!platform.sendFile || file.bytes.length > limit)
    throw platformError('rejected', `${platform.name} takes no file of ${file.bytes.length} bytes.`)
  await log.offering()
  await log.accepted(await platform.sendFile(parseTarget(message.target), file))
}

/** Resolves with `false` where sending ended in a pause: then nothing is offered that was not accepted. */
async function sendParts<Message extends SendableMessage>(
  options: SenderOptions<Message>,
  message: Message,
  { log, pause }: { readonly log: PartLog; readonly pause: Pause },
): Promise<boolean> {
  const { platform, bubbleOf, shownOf, pauseMs, replies: points = true } = options
  const {
    text: whole,
    file,
    markup = 'markdown',
    replyTo,
    buttons,
    subject,
    edits,
  } = message.body as unknown as Outgoing
  if (file !== undefined) {
    await sendFile(options, message, { path: file, log })
    return true
  }
  const text = (await shownOf?.(message, whole)) ?? whole
  const base = { target: parseTarget(message.target), markup, ...(subject === undefined ? {} : { subject }) }
  const { maxLength, replies } = platform.abilities
  const room = { ...maxLength, limit: maxLength.limit - REPEAT_MARK.length }
  const parts = splitMessage(text, room)
  if (edits !== undefined) {
    const last = buttons === undefined ? {} : { buttons }
    log.asking()
    await platform.edit?.(edits, { ...base, text: parts[0] ?? text, ...last })
    return true
  }
  for (let index = message.sentParts; index < parts.length; index++) {
    const isFirst = index === 0
    const mark = message.mayBeSent && index === message.sentParts ? REPEAT_MARK : ''
    const part: PlatformMessage = {
      ...base,
      text: parts[index]!,
      ...(isFirst && replies && points && replyTo !== undefined ? { replyTo } : {}),
      ...(buttons !== undefined && index === parts.length - 1 ? { buttons } : {}),
    }
    const bubble = isFirst ? ((await bubbleOf?.(message)) ?? null) : null
    const waitMs = bubble === null ? (pauseMs?.(message) ?? 0) : 0
    if (waitMs > 0 && !(await pause(waitMs))) return false
    await log.inTurn(async () => {
      await log.offering()
      const isShown = bubble !== null && (await isEdited(platform, bubble, { part, attempt: message.attempt }))
      await log.accepted(isShown ? bubble : await sendPart(platform, { ...part, text: mark + part.text }))
    })
  }
  return true
}

/** As plain text where the platform does not take its markup. */
async function sendPart(platform: Platform, part: PlatformMessage): Promise<string> {
  try {
    return await platform.send(part)
  } catch (error) {
    if (part.markup === 'plain' || failureOf(error).failure !== 'markup_refused') throw error
    return platform.send({ ...part, markup: 'plain' })
  }
}

/**
 * A message that cannot be changed any more is sent anew. Where nobody knows whether it was changed that would show it twice: it is changed
 * once more first, which does no harm.
 */
async function isEdited(
  platform: Platform,
  bubble: string,
  { part, attempt }: { readonly part: PlatformMessage; readonly attempt: number },
): Promise<boolean> {
  try {
    await platform.edit!(bubble, part)
    return true
  } catch (error) {
    const { failure } = failureOf(error)
    if (failure === 'rate_limited' || failure === 'unreachable') throw error
    if (failure === 'unknown_outcome' && attempt < EDITS_OF_UNKNOWN_OUTCOME) throw error
    return false
  }
}

/** What a failure makes of a message. */
function outcomeOf(
  error: unknown,
  { attempt, createdAtMs }: SendableMessage,
  { nowMs, isOffered }: { readonly nowMs: number; readonly isOffered: boolean },
) {
  const { failure, retryAfterMs } = failureOf(error)
  const line = errorLine(error)
  const isOver = nowMs - createdAtMs > GIVE_UP_AFTER_MS
  if (failure === 'rejected' || failure === 'too_large' || failure === 'markup_refused' || isOver)
    return { type: 'failed', error: isOver ? `Given up after a day: ${line}` : line } as const
  const waitMs = retryAfterMs ?? Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 20), MAX_WAIT_MS)
  const type = failure === 'unknown_outcome' && isOffered ? 'perhaps' : 'retry'
  return { type, error: line, dueAtMs: nowMs + waitMs } as const
}

function ignoreAbort(error: unknown): void {
  if (!isAbort(error)) throw error
}
