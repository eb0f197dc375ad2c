// What is heard on a platform: kept on disk before the platform is told, from people who may talk, in the session of its chat.
//
//   event ─▶ admitted? ─▶ chat ─┬─ words ─▶ inbox ─▶ run
//                               ├─ command, steer, answer ─▶ written down ─▶ done once
//                               └─ button ─▶ answer, if it is the first

import type { ExtensionRegistry } from '@hermes/agent-core'
import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type {
  ChatType,
  Incoming,
  IncomingEdit,
  IncomingMessage,
  IncomingPress,
  Platform,
} from '@hermes/contracts/platform'
import { type Approval, type ApprovalChoice, rootSessionOf } from '@hermes/contracts/policy'
import { answerIn, type KeptQuestion } from '@hermes/contracts/tool'
import type { SessionHost } from '@hermes/host'
import {
  type Access,
  type Chat,
  type ChatAction,
  continueHere,
  isShared,
  type KeptAction,
  type Pairings,
  renewedChat,
} from '@hermes/platform'
import type { ChatCaller, ChatCommandLine, OwnCommands, TypedInChat } from './chat-commands.js'
import type { ChatShows } from './chat-view.js'
import { ChatWorker, type ChatWorkerOptions } from './chat-worker.js'
import { type KeepMedia, partsOf, wordsOf } from './incoming-parts.js'
import type { OutgoingFiles } from './outgoing-files.js'
import { answeredMessage, answeredQuestion, readPressed, typedChoice } from './pending-questions.js'
import type { Transcribe } from './transcription.js'

/** What a message during a run does. */
/** In chats `background` is `queue`: who else is in one would not know which answer is whose. */
type BusyMode = 'queue' | 'steer' | 'interrupt' | 'background'

const CALLS = ['off', 'new', 'all', 'verbose'] as const
const TITLE_CHARS = 60
const ACKNOWLEDGE_AFTER_MS = 1_000
/** Several files, and the pieces of a long text, come as messages one after the other. */
const JOIN_MS = 1_000
const PIECE_CHARS = 3_500
/** What takes longer, such as a login in a browser, keeps nobody else from being heard. */
const AWAITED_MS = 2_000
/** After which an action is tried again that the store did not take, twice as long each time. */
const FIRST_STORE_WAIT_MS = 1_000
const MAX_STORE_WAIT_MS = 32_000

/** Options of {@link Dispatcher}. */
interface DispatcherOptions extends Omit<ChatWorkerOptions, 'hasButtons' | 'host'> {
  readonly platform: Platform
  readonly access: Access
  readonly pairings: Pick<Pairings, 'request'>
  readonly host: Pick<SessionHost, 'open' | 'steer' | 'interrupt' | 'isBusy'>
  readonly commands: ChatCommandLine
  readonly keep: KeepMedia
  /** Makes words of voice notes; `null` where no service is configured. */
  readonly transcribe: Transcribe | null
  /** Whether the chat is shown these words. */
  readonly echoesTranscripts: boolean
  readonly files: Pick<OutgoingFiles, 'requested' | 'answer'>
  readonly busyMode: BusyMode
  readonly requiresMention: boolean
  /** Where clocks show the time at which messages were sent, for the model; `null` where it is not told. */
  readonly timeZone: string | null
  /** Whether a conversation in a chat of this kind, in which something was said last then, is over now. */
  readonly isStale: (type: ChatType, heardAtMs: number, nowMs: number) => boolean
  /** What its chats show, unless their people chose otherwise. */
  readonly shows: ChatShows
  /** What extensions say of a message before anybody looks who may write. Never rejects. */
  readonly verdict: ExtensionRegistry['outside']['verdict']
  /** How the platforms are doing, in words. */
  readonly platformsNow: () => string
  /** Has a platform rest or go on, as it was typed; resolves with what to say. */
  readonly changePause: (words: string) => Promise<string>
  /** What the owner is asked about the project that is worked in; `null` where nothing is to be asked. */
  readonly projectQuestion: () => Promise<string | null>
}

/** What takes longer than this has not ended the process at once, and nobody waits for it. */
const ALONE_AFTER_MS = 60_000

/** Hears one platform. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #workers = new Map<string, ChatWorker>()
  readonly #bySession = new Map<string, ChatWorker>()
  readonly #tasks = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  /** Sessions in which the owner was asked about the project. */
  readonly #projectNotified = new Set<string>()
  /** Chats of which it is being found out whether they begin anew. */
  readonly #looking = new Map<string, Promise<ChatWorker>>()
  /** Chats that are just given another session, by their key. */
  readonly #moving = new Map<string, Promise<void>>()
  /** What was said last in each chat, by its key. */
  readonly #last = new Map<string, { readonly messageId: string; readonly text: string }>()
  /** Answers that were seen. */
  readonly #seen = new Set<string>()

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  /** Whose session it is here; `undefined` for one of another platform. */
  workerOf(sessionId: string): ChatWorker | undefined {
    return this.#bySession.get(sessionId)
  }

  /** Goes on with what was not done when the last process ended. */
  async recover(): Promise<void> {
    const { chats, platform, clock } = this.#options
    for (const action of await chats.openActions(platform.name, clock.now())) this.#begin(action)
    const open = (await chats.list(platform.name)).filter(({ isOpen }) => isOpen).map((chat) => this.#worker(chat))
    const suspects = open.filter(({ isSuspect }) => isSuspect)
    const others = open.filter(({ isSuspect }) => !isSuspect)
    for (const worker of others) await worker.recover()
    if (suspects.length > 0) this.#track(this.#recoverAlone(suspects, others), 'suspects')
  }

  /** One of them may be why the process ended: each goes on when all before it are done, so that the next end says which. */
  async #recoverAlone(suspects: readonly ChatWorker[], others: readonly ChatWorker[]): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopping
    let before: readonly ChatWorker[] = others
    for (const worker of suspects) {
      const done = new AbortController()
      const long = clock.sleep(ALONE_AFTER_MS, AbortSignal.any([signal, done.signal])).catch(() => undefined)
      await Promise.race([Promise.all(before.map((one) => one.settled())), long])
      done.abort()
      if (signal.aborted) return
      await worker.recover().catch((error: unknown) => {
        const { sessionId } = worker.chat
        this.#options.logger.error('A chat could not be taken up.', { sessionId, error: errorLine(error) })
      })
      before = [worker]
    }
  }

  /** Resolves once the store has it; rejects where it has not, so that the platform tells it again. */
  async hear(event: Incoming): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    const { chats, platform } = this.#options
    switch (event.type) {
      case 'message':
        return this.#hearMessage(event)
      case 'press':
        return this.#hearPress(event)
      case 'moved':
        await chats.move(platform.name, event.fromChatId, event.toChatId)
        return this.#move(event.fromChatId)
      case 'edit':
        return this.#hearEdit(event)
      default:
        return event satisfies never
    }
  }

  /** Those of a chat with a new id go on under it, also where they are at work. */
  async #move(fromChatId: string): Promise<void> {
    const { chats, platform } = this.#options
    const moved = await chats.list(platform.name)
    for (const [key, worker] of [...this.#workers]) {
      if (worker.chat.chat.id !== fromChatId) continue
      this.#workers.delete(key)
      const chat = moved.find(({ sessionId }) => sessionId === worker.chat.sessionId)
      if (!chat) continue
      worker.move(chat)
      this.#workers.set(chat.key, worker)
    }
  }

  /** Rejects where the end of this program came first: nobody knows whether the message may pass, and the platform tells it again. */
  async #verdictOf(message: IncomingMessage | IncomingEdit) {
    const { signal } = this.#stopping
    const verdict = await this.#options.verdict({ platform: this.#options.platform.name, message }, signal)
    signal.throwIfAborted()
    return verdict
  }

  async #hearMessage(heard: IncomingMessage): Promise<void> {
    const { access, commands, requiresMention } = this.#options
    const verdict = await this.#verdictOf(heard)
    if (verdict?.type === 'drop') return
    // Words that somebody else put there are for the model to read, as what somebody else wrote is: no command, and no answer.
    const isRewritten = verdict?.type === 'rewrite'
    const event = isRewritten ? { ...heard, text: verdict.text } : heard
    const { chat: place, sender } = event
    if (sender.isBot || place.type === 'channel') return
    if (place.type === 'group' && requiresMention && !event.isToBot) return
    const admission = await access(place, sender)
    if (admission.type === 'ignored') return
    if (admission.type === 'pair') return this.#pair(event)
    const worker = await this.#fresh(await this.#chatNow(event))
    const caller: ChatCaller = { user: { id: sender.id, name: sender.name }, isAdmin: admission.isAdmin }
    // What somebody else wrote is for the model to read: no command, and no answer.
    if (event.isForwarded || isRewritten) return this.#say(event, worker)
    const typed = event.attachments.length === 0 ? commands.read(event.text, commands.callerOf(worker, caller)) : null
    if (typed) return this.#act(event, worker, { type: 'command', line: event.text.trim() }, !commands.waits(typed))
    const question = await this.#questionFor(worker)
    if (question && event.text !== '') {
      const action = { type: 'answer', questionId: question.id, text: event.text } as const
      return this.#act(event, worker, action, true)
    }
    return this.#say(event, worker)
  }

  /** What is said right behind a command that begins anew is said in the new conversation, however long that takes. */
  async #chatNow({ chat, sender }: IncomingMessage): Promise<Chat> {
    const { chats, platform } = this.#options
    const place = { platform: platform.name, chat, sender }
    const found = await chats.of(place)
    const moving = this.#moving.get(found.key)
    if (!moving) return found
    await moving
    return chats.of(place)
  }

  /** What is under answer, or waits for it, is told as it reads now; what was answered stays as it was said, and other edits change no words. */
  async #hearEdit(heard: IncomingEdit): Promise<void> {
    const { access, chats, platform, storage } = this.#options
    const verdict = await this.#verdictOf(heard)
    if (verdict?.type === 'drop') return
    const event = verdict?.type === 'rewrite' ? { ...heard, text: verdict.text } : heard
    const { chat: place, sender } = event
    if ((await access(place, sender)).type !== 'admitted') return
    const { key, sessionId } = await chats.of({ platform: platform.name, chat: place, sender })
    const [last, worker] = [this.#last.get(key), this.#bySession.get(sessionId)]
    if (!worker || last?.messageId !== event.messageId || last.text === event.text) return
    const isWaiting = (await storage.inbox.waiting(sessionId)).some(
      ({ body }) => body['platformMessageId'] === event.messageId,
    )
    if (!isWaiting && !worker.isRunning) return
    this.#last.set(key, event)
    const text = `I changed my last message. It says now:\n${event.text}`
    await this.#act(event, worker, { type: isWaiting ? 'more' : 'steer', text }, false)
  }

  /** After a pause that config.yaml calls long, the conversation of a chat, as it is stored, begins anew; not while something runs or waits for an answer. */
  #fresh(chat: Chat): Promise<ChatWorker> {
    // Of several that come at once, all go where the first one goes.
    const known = this.#looking.get(chat.key)
    if (known) return known
    const looking = this.#workerNow(chat).finally(() => this.#looking.delete(chat.key))
    this.#looking.set(chat.key, looking)
    return looking
  }

  async #workerNow(chat: Chat): Promise<ChatWorker> {
    const { chats, clock, storage, isStale } = this.#options
    const worker = this.#worker(chat)
    if (worker.isAtWork || worker.chat.isOpen || chat.isOpen || chat.heardAtMs === undefined) return worker
    if (!isStale(chat.chat.type, chat.heardAtMs, clock.now())) return worker
    if ((await storage.approvals.pending(chat.sessionId)).some(({ choice }) => choice === null)) return worker
    if ((await storage.questions.pending(chat.sessionId)).some(({ answer }) => answer === null)) return worker
    const renewed = await chats.change(chat.key, (stored) => {
      if (stored === null || stored.isOpen || stored.sessionId !== chat.sessionId) return null
      const { heardAtMs: _, ...next } = renewedChat(stored)
      return next
    })
    if (renewed === null || renewed.sessionId === chat.sessionId) return worker
    const next = this.#worker(renewed)
    const text = 'This is a new conversation: the last one is long ago. It is kept.'
    await next.tell(`${renewed.sessionId}:begun`, { text, markup: 'plain' })
    return next
  }

  async #say(event: IncomingMessage, worker: ChatWorker): Promise<void> {
    const { platform, keep, busyMode, host, timeZone } = this.#options
    const isBusy = worker.isRunning
    const isStillBusy = worker.underWay()
    this.#last.set(worker.chat.key, event)
    if (isBusy && busyMode === 'steer' && event.attachments.length === 0 && !event.isForwarded)
      return this.#act(event, worker, { type: 'steer', text: event.text }, false)
    const shared = isShared(worker.chat.key)
    const isOwner = worker.chat.person === null
    const heard: string[] = []
    const hear = this.#hearing(worker, heard)
    const about = { platform, keep, hear, isShared: shared, isOwner, timeZone, signal: this.#stopping.signal }
    const sender = this.#options.masked(event.sender)
    const parts = await partsOf({ ...event, sender }, about)
    if (parts.length === 0) return
    const key = `${platform.name}:${event.id}`
    const words = heard.filter((text) => text !== '').join('\n')
    if (words !== '' && this.#options.echoesTranscripts)
      await worker.tell(`${key}:heard`, { text: `🎙 ${words}`, markup: 'plain', replyTo: event.messageId })
    if (isOwner && !shared) await this.#tellOfProject(worker)
    const author = shared ? { author: sender.name } : {}
    const joinMs = event.attachments.length > 0 || event.text.length >= PIECE_CHARS ? JOIN_MS : 0
    const body = { parts, platformMessageId: event.messageId, ...author }
    await worker.take(key, body, { joinMs })
    if (!isBusy) return
    // Once what was under way is over, the run of these words is, which nobody interrupts.
    if (busyMode !== 'interrupt') this.#track(this.#acknowledge(event, worker), event.id)
    else if (isStillBusy()) host.interrupt(worker.chat.sessionId, 'a new message came')
  }

  /** Makes words of what was spoken in a chat, and adds them to `heard`; `null` where nothing does. */
  #hearing({ chat: { sessionId, platform, user } }: ChatWorker, heard: string[]) {
    const { transcribe } = this.#options
    if (!transcribe) return null
    return async (recording: Parameters<Transcribe>[0]) => {
      const who = { sessionId, platform, user: user.id, signal: this.#stopping.signal }
      const words = await transcribe(recording, who)
      heard.push(words)
      return words
    }
  }

  /** Once for each conversation of the owner alone: nobody else may answer, and what is said is not for a group. */
  async #tellOfProject(worker: ChatWorker): Promise<void> {
    const { sessionId } = worker.chat
    if (this.#projectNotified.has(sessionId)) return
    this.#projectNotified.add(sessionId)
    const question = await this.#options.projectQuestion().catch(() => null)
    if (question === null) return
    const text = `${question}\nAnswer with /trust add; until then I go on without it.`
    await worker.tell(`trust:${sessionId}`, { text, markup: 'plain' })
  }

  /** Says that a message waits, where it does: what is nearly done needs no word. */
  async #acknowledge({ id, messageId }: IncomingMessage, worker: ChatWorker): Promise<void> {
    const { platform, storage, clock } = this.#options
    const key = `${platform.name}:${id}`
    await clock.sleep(ACKNOWLEDGE_AFTER_MS, this.#stopping.signal)
    const waiting = await storage.inbox.waiting(worker.chat.sessionId)
    if (!waiting.some((one) => one.key === key)) return
    const text = 'I read this once I am done with what I am doing. /stop ends that.'
    await worker.tell(`busy:${key}`, { text, markup: 'plain', replyTo: messageId })
  }

  /** The question that the session waits for, which the next words answer. */
  async #questionFor(worker: ChatWorker): Promise<KeptQuestion | null> {
    if (worker.isRunning) return null
    const { storage, clock } = this.#options
    const pending = await storage.questions.pending(worker.chat.sessionId)
    return (
      pending.find((kept) => kept.answer === null && kept.status === 'parked' && kept.expiresAtMs > clock.now()) ?? null
    )
  }

  /** Nobody but the stranger hears of it, and the code stands nowhere. */
  async #pair({ sender, chat }: IncomingMessage): Promise<void> {
    const { pairings, platform, logger } = this.#options
    const code = await pairings.request(platform.name, sender)
    if (code === null) return
    const text = `I do not know you yet. Your pairing code is ${code}. Who runs this agent lets you in with:\nhermes pairing approve ${platform.name} ${code}`
    const target = { chatId: chat.id, ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }) }
    await platform
      .send({ target, text, markup: 'plain' })
      .catch((error: unknown) =>
        logger.warn('A pairing code could not be sent.', { platform: platform.name, error: errorLine(error) }),
      )
  }

  /** Writes an action down and does it; `isAwaited`: what is heard next comes after it, unless it takes long. */
  async #act(
    event: IncomingMessage | IncomingEdit,
    worker: ChatWorker,
    action: ChatAction,
    isAwaited: boolean,
  ): Promise<void> {
    const { chats, platform, clock } = this.#options
    const { id, name } = event.sender
    const kept: KeptAction = {
      ...{ id: `${platform.name}:${event.id}`, action, chatKey: worker.chat.key, user: { id, name } },
      ...{ messageId: event.messageId, atMs: clock.now(), isDone: false },
    }
    await chats.change(worker.chat.key, (stored) => (stored === null ? worker.chat : null))
    if (!(await chats.addAction(kept))) return
    const done = this.#begin(kept)
    if (!isAwaited) return
    const ended = new AbortController()
    const late = clock.sleep(AWAITED_MS, ended.signal).catch(() => undefined)
    await Promise.race([done, late]).finally(() => ended.abort())
  }

  /** Never rejects: what the store did not take for long is done by the next process. */
  #begin(kept: KeptAction): Promise<void> {
    const { chatKey: key, action } = kept
    const done = this.#track(this.#tryAgain(kept), kept.id)
    if (action.type !== 'command' || !this.#options.commands.beginsAnew(action.line)) return done
    const moving = Promise.all([this.#moving.get(key), done]).then(() => {
      if (this.#moving.get(key) === moving) this.#moving.delete(key)
    })
    this.#moving.set(key, moving)
    return done
  }

  /** As long as a store that is gone for a minute takes. */
  async #tryAgain(kept: KeptAction): Promise<void> {
    for (let waitMs = FIRST_STORE_WAIT_MS; ; waitMs *= 2)
      try {
        return await this.#perform(kept)
      } catch (error) {
        if (!isOfStore(error) || waitMs > MAX_STORE_WAIT_MS) throw error
        this.#options.logger.warn('Something in a chat is tried again.', { id: kept.id, error: errorLine(error) })
        await this.#options.clock.sleep(waitMs, this.#stopping.signal)
      }
  }

  /** What is begun is waited for by {@link Dispatcher.drain}. Never rejects. */
  #track(work: Promise<void>, id: string): Promise<void> {
    const task = work
      .catch((error: unknown) => {
        if (!isAbort(error)) this.#options.logger.error('Something in a chat failed.', { id, error: errorLine(error) })
      })
      .finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
    return task
  }

  async #perform(kept: KeptAction): Promise<void> {
    const { chats } = this.#options
    const chat = await chats.chatOf(kept)
    if (chat) {
      const worker = this.#worker(chat)
      const { action } = kept
      switch (action.type) {
        case 'command':
          await this.#command(kept, worker, action.line)
          break
        case 'steer':
          await this.#steer(kept, worker, action.text)
          break
        case 'more':
          await this.#takeWords(kept, worker, action.text)
          break
        case 'answer':
          await this.#answerQuestion(worker, action.questionId, { text: action.text, by: byOf(kept.user) })
          break
        default:
          action satisfies never
      }
    }
    await chats.endAction(kept)
  }

  async #command(kept: KeptAction, worker: ChatWorker, line: string): Promise<void> {
    const { commands, access } = this.#options
    const admission = await access(worker.chat.chat, kept.user)
    if (admission.type !== 'admitted') return
    const caller: ChatCaller = { user: kept.user, isAdmin: admission.isAdmin }
    const typed = commands.read(line, commands.callerOf(worker, caller))
    if (!typed) return
    const own = this.#ownCommands(worker)
    const { text, changes } = await commands.carryOut(typed as TypedInChat, {
      worker,
      own,
      caller,
      signal: this.#stopping.signal,
    })
    if (text !== '')
      await this.#current(worker).tell(`action:${kept.id}`, { text, markup: 'plain', replyTo: kept.messageId })
    for (const change of changes) {
      if (change.type === 'send' || change.type === 'queue') await this.#takeWords(kept, worker, change.text)
      else if (change.type === 'resume') await worker.resume()
    }
  }

  /** What no run takes any more is said as the next message. */
  async #steer(kept: KeptAction, worker: ChatWorker, words: string): Promise<void> {
    const { text, sources } = wordsOf(words, worker.whose(kept.user))
    const delivery = this.#options.host.steer(worker.chat.sessionId, text, sources)
    if (delivery === null) return this.#takeWords(kept, worker, words)
    if ((await delivery) === 'queued') await worker.resume()
  }

  #takeWords({ id, messageId, user }: KeptAction, worker: ChatWorker, words: string): Promise<void> {
    const whose = worker.whose(user)
    const author = whose.isShared ? { author: whose.sender.name } : {}
    return worker.take(id, { parts: [wordsOf(words, whose)], platformMessageId: messageId, ...author })
  }

  #ownCommands(worker: ChatWorker): OwnCommands {
    return {
      renew: async () => {
        const { chats, host } = this.#options
        const { key } = worker.chat
        await chats.change(key, (stored) => ({ ...renewedChat(stored ?? worker.chat), isOpen: false, begun: 0 }))
        host.interrupt(worker.chat.sessionId, '/new was called')
      },
      answerPending: (what, words, caller) => this.#answerTyped(worker, { what, words, caller }),
      status: () => this.#status(worker),
      platform: async (words, { isAdmin }) => {
        if (['', 'list'].includes(words.trim().toLowerCase())) return this.#options.platformsNow()
        if (!isAdmin) return 'Only the owner of this Hermes has a platform rest.'
        return this.#options.changePause(words)
      },
      setHome: async ({ isAdmin }) => {
        if (!isAdmin) return 'Only the owner of this Hermes says where news go.'
        await this.#options.chats.setHome(worker.chat.platform, worker.target)
        return `News go here from now on: hermes send ${worker.chat.platform} "…" reaches this chat.`
      },
      verbose: async (words, caller) => {
        if (!isTheirOwn(worker, caller)) return onlyTheirOwn(worker)
        return this.#chooseCalls(worker, words.trim().toLowerCase())
      },
      footer: async (words, caller) => {
        if (!isTheirOwn(worker, caller)) return onlyTheirOwn(worker)
        const word = words.trim().toLowerCase()
        const now = worker.chat.hasFooter ?? this.#options.shows.hasFooter
        if (!['', 'status', 'on', 'off'].includes(word)) return 'Write /footer on, /footer off or /footer status.'
        if (word === 'status') return `The line after answers is ${now ? 'on' : 'off'}.`
        const hasFooter = word === '' ? !now : word === 'on'
        await worker.choose({ hasFooter })
        return `The line after answers is ${hasFooter ? 'on' : 'off'} from now on.`
      },
      topic: (words, caller) => this.#topic(worker, words.trim(), caller),
      whoami: ({ user, isAdmin }) => {
        const { person, platform } = worker.chat
        const who = person === null ? 'the owner of this Hermes' : person
        return `You are ${user.name} (${platform}:${user.id}): ${who}${isAdmin && person !== null ? ', with the rights of the owner' : ''}.`
      },
    }
  }

  async #chooseCalls(worker: ChatWorker, word: string): Promise<string> {
    const { platform, shows } = this.#options
    if (!platform.abilities.edits) return `${platform.name} cannot change messages, so it shows no calls.`
    const now = worker.chat.calls ?? shows.calls
    const calls = word === '' ? CALLS[(CALLS.indexOf(now) + 1) % CALLS.length]! : CALLS.find((one) => one === word)
    if (calls === undefined) return `Write /verbose ${CALLS.join(', /verbose ')}; without a word the next of them.`
    await worker.choose({ calls })
    return `Calls of tools: ${calls}.`
  }

  /** Each topic is a conversation of its own by itself; here its people see which there are, and go on with another session. */
  async #topic(worker: ChatWorker, sessionId: string, caller: ChatCaller): Promise<string> {
    const { chats, platform, storage } = this.#options
    const { chat, person, key } = worker.chat
    const here = (await chats.list(platform.name)).filter((one) => one.chat.id === chat.id && one.person === person)
    if (sessionId !== '' && sessionId !== 'help') {
      if (!isTheirOwn(worker, caller)) return onlyTheirOwn(worker)
      return continueHere(
        { meta: storage.meta, sessions: storage.sessions, nowMs: () => this.#options.clock.now() },
        key,
        sessionId,
      )
    }
    const lines = await Promise.all(
      here.map(async (one) => {
        const { title, preview } = (await storage.sessions.get(one.sessionId)) ?? { title: null, preview: '' }
        const name = (title ?? preview).replaceAll(/\s+/g, ' ').trim().slice(0, TITLE_CHARS).toWellFormed()
        const place = one.chat.threadId === undefined ? 'without a topic' : `topic ${one.chat.threadId}`
        return `- ${place}${one.key === key ? ' (this one)' : ''}: ${name || 'no title yet'} (${one.sessionId})`
      }),
    )
    return [
      'Each topic is a conversation of its own. /topic SESSION goes on with a session in this one.',
      ...lines,
    ].join('\n')
  }

  async #status(worker: ChatWorker): Promise<string> {
    const { storage, host } = this.#options
    const { sessionId } = worker.chat
    const pending = await storage.approvals.pending(sessionId)
    const open = pending.filter(({ choice }) => choice === null).length
    const session = await storage.sessions.get(sessionId)
    return [
      `Conversation: ${session?.title ?? 'no title yet'} (${sessionId})`,
      `Model: ${session?.model ?? 'chosen with the first message'}`,
      `Now: ${host.isBusy(sessionId) ? 'at work; /stop ends it' : 'waiting for you'}`,
      ...(open > 0 ? [`${open} approval${open === 1 ? '' : 's'} wait: /approve or /deny`] : []),
      'Write to me as you would to a person. /help lists commands, /new begins anew.',
    ].join('\n')
  }

  async #answerTyped(
    worker: ChatWorker,
    { what, words, caller }: { what: 'approve' | 'deny'; words: string; caller: ChatCaller },
  ): Promise<string> {
    const file = /^[0-9a-f]{8}$/.test(words.trim()) ? await this.#options.files.requested(words.trim()) : null
    if (file?.sessionId === worker.chat.sessionId)
      return this.#answerFile(worker, { id: file.id, answer: what === 'deny' ? 'no' : 'yes' }, { caller, shown: null })
    const choice = what === 'deny' ? 'deny' : typedChoice(words)
    if (choice === null) return 'Write /approve, /approve session, /approve always or /deny.'
    const { storage, clock } = this.#options
    const pending = await storage.approvals.pending(worker.chat.sessionId)
    const approval = pending.find((one) => one.choice === null && one.expiresAtMs > clock.now())
    if (!approval) return 'Nothing waits for an answer.'
    return this.#answerApproval(worker, approval.id, { choice, caller })
  }

  async #hearPress(event: IncomingPress): Promise<void> {
    const { access, platform, chats } = this.#options
    const { chat: place, sender } = event
    const pressed = readPressed(event.data)
    const admission = await access(place, sender)
    if (!pressed || admission.type !== 'admitted') return event.acknowledge('This button is not for you.')
    const worker =
      pressed.type === 'file'
        ? await this.#workerOfFile(pressed.id, place.id)
        : await this.#workerAsking(pressed, place.id)
    if (!worker) return event.acknowledge('This is over.')
    const own = await chats.of({ platform: platform.name, chat: place, sender })
    const isTheirs = own.key === worker.chat.key || admission.isAdmin
    if (!isTheirs) return event.acknowledge('This button is not for you.')
    const caller: ChatCaller = { user: { id: sender.id, name: sender.name }, isAdmin: admission.isAdmin }
    if (pressed.type === 'file')
      return event.acknowledge(await this.#answerFile(worker, pressed, { caller, shown: event.messageId }))
    if (pressed.type === 'approval') {
      const { id, choice } = pressed
      return event.acknowledge(await this.#answerApproval(worker, id, { choice, caller, messageId: event.messageId }))
    }
    const kept = await this.#options.storage.questions.get(pressed.id)
    const text = kept?.question.choices[pressed.index]
    if (text === undefined) return event.acknowledge('This is over.')
    const isFirst = await this.#answerQuestion(worker, pressed.id, {
      text,
      by: byOf(sender),
      messageId: event.messageId,
    })
    return event.acknowledge(isFirst ? text : 'It was answered already.')
  }

  async #workerOfFile(id: string, chatId: string): Promise<ChatWorker | null> {
    const requested = await this.#options.files.requested(id)
    const worker = requested && (this.#bySession.get(requested.sessionId) ?? (await this.#stored(requested.sessionId)))
    return worker?.chat.chat.id === chatId ? worker : null
  }

  async #answerFile(
    worker: ChatWorker,
    { id, answer }: { readonly id: string; readonly answer: 'yes' | 'no' },
    { caller, shown }: { readonly caller: ChatCaller; readonly shown: string | null },
  ): Promise<string> {
    if (answer === 'yes' && !isTheirOwn(worker, caller)) return onlyTheirOwn(worker)
    const { files } = this.#options
    return files.answer(id, answer, { chat: worker.chat, by: byOf(caller.user), shown })
  }

  /** The chat whose session asked, if it is this chat of the platform. */
  async #workerAsking(
    { type, id }: { type: 'approval' | 'question'; id: string },
    chatId: string,
  ): Promise<ChatWorker | null> {
    const { storage } = this.#options
    const approval = type === 'approval' ? await storage.approvals.get(id) : null
    const sessionId = approval ? rootSessionOf(approval.question.subject) : (await storage.questions.get(id))?.sessionId
    if (sessionId === undefined) return null
    const open = this.#bySession.get(sessionId)
    if (open) return open.chat.chat.id === chatId ? open : null
    const worker = await this.#stored(sessionId)
    return worker?.chat.chat.id === chatId ? worker : null
  }

  /** The first answer counts; resolves with what to say to the one who gave it. */
  async #answerApproval(
    worker: ChatWorker,
    id: string,
    { choice, caller, messageId }: { choice: ApprovalChoice; caller: ChatCaller; messageId?: string },
  ): Promise<string> {
    const { storage, clock } = this.#options
    const approval = await storage.approvals.get(id)
    if (!approval || approval.expiresAtMs <= clock.now()) return 'This is over.'
    if (choice !== 'deny' && !isTheirOwn(worker, caller)) return onlyTheirOwn(worker)
    if (choice === 'always' && !caller.isAdmin) return 'Only the owner of this Hermes allows something for good.'
    if (!approval.question.choices.includes(choice)) return `Possible answers: ${approval.question.choices.join(', ')}.`
    // Written down first: should this process end in between, the next one goes on.
    if (approval.choice === null) await worker.open()
    this.#seen.add(id)
    const isFirst = await worker.handle.answer(id, choice, byOf(caller.user))
    if (isFirst) await worker.resume()
    const answered = (await storage.approvals.get(id)) ?? { ...approval, choice, by: byOf(caller.user) }
    const shown = messageId ?? (await this.#sentAs(worker, `approval:${id}`))
    if (shown !== null)
      await worker.tell(
        `approval:${id}:over`,
        answeredMessage({ ...answered, choice: answered.choice ?? choice }, shown),
      )
    return isFirst ? (choice === 'deny' ? 'Denied.' : 'Allowed.') : 'It was answered already.'
  }

  async #answerQuestion(
    worker: ChatWorker,
    id: string,
    { text, by, messageId }: { text: string; by: string; messageId?: string },
  ): Promise<boolean> {
    const kept = await this.#options.storage.questions.get(id)
    if (!kept) return false
    const answer = answerIn(kept.question, text)
    this.#seen.add(id)
    const isFirst = await worker.handle.answer(id, answer, by)
    if (isFirst) await worker.resume()
    const shown = messageId ?? (await this.#sentAs(worker, `question:${id}`))
    if (shown !== null && isFirst) {
      const body = answeredQuestion(kept.question.question, { answer: answer.text, by, edits: shown })
      await worker.tell(`question:${id}:over`, body)
    }
    return isFirst
  }

  /** What the platform calls a message that was sent. */
  async #sentAs(worker: ChatWorker, key: string): Promise<string | null> {
    const { storage, platform } = this.#options
    const rows = await storage.outbox.list({ platform: platform.name, target: worker.target, limit: 50 })
    return rows.find((row) => row.key === key)?.platformIds.at(-1) ?? null
  }

  #current(worker: ChatWorker): ChatWorker {
    return this.#workers.get(worker.chat.key) ?? worker
  }

  #worker(chat: Chat): ChatWorker {
    const known = this.#workers.get(chat.key)
    if (known?.chat.sessionId === chat.sessionId) return known
    if (known) {
      this.#bySession.delete(known.chat.sessionId)
      this.#projectNotified.delete(known.chat.sessionId)
      this.#track(known.retire(), known.chat.sessionId)
    }
    const { platform } = this.#options
    const worker = new ChatWorker(chat, { ...this.#options, hasButtons: platform.abilities.buttons === true })
    this.#workers.set(chat.key, worker)
    this.#bySession.set(chat.sessionId, worker)
    return worker
  }

  /** Goes on where something was answered at another place: a terminal, the API. Each answer once. */
  async seeAnswers(approvals: readonly Approval[], questions: readonly KeptQuestion[]): Promise<void> {
    const answers = [
      ...approvals.flatMap((one) =>
        one.choice === null ? [] : [{ id: one.id, sessionId: rootSessionOf(one.question.subject), approval: one }],
      ),
      ...questions.flatMap(({ id, sessionId, answer }) => (answer === null ? [] : [{ id, sessionId, approval: null }])),
    ]
    for (const { id, sessionId, approval } of answers) {
      if (this.#seen.has(id)) continue
      const worker = this.#bySession.get(sessionId) ?? (await this.#stored(sessionId))
      // A run that is about to end may have looked already, so it is looked at once more.
      if (worker?.isRunning) continue
      this.#seen.add(id)
      if (!worker) continue
      try {
        await worker.resume()
        const shown = approval && (await this.#sentAs(worker, `approval:${id}`))
        if (shown) await worker.tell(`approval:${id}:over`, answeredMessage(approval, shown))
      } catch (error) {
        this.#seen.delete(id)
        this.#options.logger.warn('An answer could not be gone on with; it is tried again.', {
          error: errorLine(error),
        })
      }
    }
  }

  /** Has the conversation of a session go on with what another session wrote to it; `false` where it is in no chat here. */
  async wake(sessionId: string): Promise<boolean> {
    const worker = this.#bySession.get(sessionId) ?? (await this.#stored(sessionId))
    await worker?.wake()
    return worker !== null
  }

  async #stored(sessionId: string): Promise<ChatWorker | null> {
    const { chats, platform } = this.#options
    const chat = (await chats.list(platform.name)).find((one) => one.sessionId === sessionId)
    return chat ? this.#worker(chat) : null
  }

  /** How many chats are at work. */
  get atWork(): number {
    return [...this.#workers.values()].filter(({ isRunning }) => isRunning).length
  }

  /** Hears nothing more. Resolves when all that was begun is done, at the latest when the signal fires. */
  async drain(signal: AbortSignal): Promise<void> {
    const late = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const all = [...this.#tasks, ...[...this.#workers.values()].map((worker) => worker.settled())]
    await Promise.race([Promise.all(all), late])
    this.#stopping.abort(new DOMException('The gateway stops.', 'AbortError'))
    for (const worker of this.#workers.values()) worker.leave()
  }
}

/** Of what all in a group see, one asked for it with their own rights. */
function isTheirOwn({ chat }: ChatWorker, { user, isAdmin }: ChatCaller): boolean {
  return !isShared(chat.key) || isAdmin || user.id === chat.user.id
}

function onlyTheirOwn({ chat }: ChatWorker): string {
  return `Only ${chat.user.name || 'who began this conversation'} or the owner of this Hermes allows that here.`
}

function isOfStore(error: unknown): boolean {
  return HermesError.isInstance(error) && error.code.startsWith('store.')
}

function byOf({ id, name }: { readonly id: string; readonly name: string }): string {
  return name || id
}
