// Telegram through the Bot API: https://core.telegram.org/bots/api
//
//   getUpdates (or a webhook) ─▶ readUpdate ─▶ hear, which keeps it ─▶ the next getUpdates confirms it
import { timingSafeEqual } from 'node:crypto'
import { type Clock, errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import type {
  IncomingAttachment,
  Platform,
  PlatformAbilities,
  PlatformFile,
  PlatformListener,
  PlatformMessage,
  PlatformState,
  PlatformTarget,
} from '@hermes/contracts/platform'
import { failureOf, platformError, Reconnection } from '@hermes/platform'
import type { InlineKeyboardMarkup, ReactionTypeEmoji, Update } from 'grammy/types'
import { Api } from 'grammy/web'
import { type BotIdentity, readUpdate } from './read-update.js'
import { isNotModified, isUnknownMethod, movedTo, toPlatformError } from './telegram-error.js'
import { isForRichMessage, toTelegramHtml } from './telegram-html.js'
import { UpdateTaker } from './update-taker.js'

const DEFAULT_API_ROOT = 'https://api.telegram.org'
const POLL_S = 25
/** A poll that takes longer is of a connection that is dead without saying so. */
const POLL_TIMEOUT_MS = 40_000
const CALL_TIMEOUT_MS = 30_000
const FILE_TIMEOUT_MS = 300_000
const MAX_PHOTO_BYTES = 10 * 1024 * 1024
/** A delivery that fails is seen within two of these. */
const WEBHOOK_LOOK_MS = 45_000
const FIRST_WAIT_MS = 1_000
/** Others wait as long while one update is refused. */
const MAX_RETRY_MS = 5_000
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'
const MAX_TEXT = 4_096
const ALL_CHATS = '*'
const KINDS = ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'callback_query'] as const

const ABILITIES: PlatformAbilities = {
  maxLength: { unit: 'utf16', limit: MAX_TEXT },
  edits: true,
  buttons: true,
  reactions: true,
  typing: true,
  replies: true,
  files: { maxBytes: 50 * 1024 * 1024 },
}

/** The client is typed for an older signal than the one of the platform; it takes either. */
type Abort = NonNullable<Parameters<Api['getMe']>[0]>

/** Options of {@link createTelegram}. */
export interface TelegramOptions {
  /** As @BotFather gives it. */
  readonly token: string
  /** Telegram delivers to this address, which leads to {@link Platform.receive}; default: the adapter asks for updates. */
  readonly webhook?: { readonly url: string; readonly secret: string } | undefined
  /** Of a Bot API server of one's own. Default `https://api.telegram.org`. */
  readonly apiRoot?: string | undefined
  /** Reaches `apiRoot`, and need reach nothing else. */
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Telegram as a platform.
 * @throws HermesError `platform.bad_options`: no token of Telegram's form, a webhook without a secret.
 */
export function createTelegram(options: TelegramOptions): Platform {
  if (!/^\d+:[\w-]{20,}$/.test(options.token))
    throw badOptions('The Telegram token is none: it looks like 110201543:AAH…, as @BotFather gives it.')
  if (options.webhook && !/^[\w-]{16,256}$/.test(options.webhook.secret))
    throw badOptions(
      'A Telegram webhook needs a secret of 16 to 256 letters, digits, "_" and "-" (TELEGRAM_WEBHOOK_SECRET). Make one with: openssl rand -hex 32',
    )
  return new Telegram(options)
}

class Telegram implements Platform {
  readonly name = 'telegram'
  readonly abilities = ABILITIES
  readonly #options: TelegramOptions
  readonly #api: Api
  readonly #stopped = new AbortController()
  readonly #moved = new Map<string, string>()
  /** Chats that refused a draft, or all of them where the server knows of none. */
  readonly #withoutDrafts = new Set<string>()
  /** Until the server says that it has none. */
  #hasRichMessages = true
  #state: PlatformState = { type: 'connecting' }
  #listener: PlatformListener | null = null
  #bot: BotIdentity | null = null
  #heardAtMs: number | null = null
  #hearing: Promise<void> = Promise.resolve()
  readonly #taker: UpdateTaker
  readonly receive?: (request: Request) => Promise<Response>

  constructor(options: TelegramOptions) {
    this.#options = options
    const { token, apiRoot = DEFAULT_API_ROOT, fetch, clock, logger } = options
    this.#taker = new UpdateTaker({
      ...{ signal: this.#stopped.signal, clock, logger },
      take: (update) => this.#take(update),
    })
    this.#api = new Api(token, { apiRoot, fetch: fetch as never, timeoutSeconds: POLL_TIMEOUT_MS / 1000 })
    if (options.webhook) this.receive = (request) => this.#receive(request)
  }

  get state(): PlatformState {
    return this.#state
  }

  get heardAtMs(): number | null {
    return this.#heardAtMs
  }

  connect(listener: PlatformListener): void {
    this.#listener = listener
    this.#hearing = this.#hear().catch((error: unknown) => {
      this.#options.logger.error('Telegram is not heard any more.', { error: errorLine(error) })
      this.#set({ type: 'failed', error: errorLine(error) })
    })
  }

  /** Until it is closed, or the token is good for nothing. */
  async #hear(): Promise<void> {
    const { signal } = this.#stopped
    const { clock, webhook } = this.#options
    const reconnection = new Reconnection(clock)
    const delivers = () => reconnection.delivers()
    while (!signal.aborted) {
      try {
        reconnection.tries()
        this.#set({ type: 'connecting', failures: reconnection.failures })
        const { id, username } = await this.#call((abort) => this.#api.getMe(abort))
        this.#bot = { id, username }
        await this.#begin()
        this.#set({ type: 'connected', account: `@${username}` })
        this.#heard()
        await (webhook ? this.#watchWebhook(webhook.url, delivers) : this.#poll(delivers))
      } catch (error) {
        if (signal.aborted) return
        const { failure, retryAfterMs } = failureOf(error)
        const line = errorLine(error)
        if (failure === 'unauthorized') return this.#set({ type: 'failed', error: line })
        const waitMs = reconnection.failed(line, { retryAfterMs })
        const { failures } = reconnection
        this.#set({ type: 'waiting', error: line, retryAtMs: clock.now() + waitMs, failures })
        await this.#sleep(waitMs)
      }
    }
  }

  async #begin(): Promise<void> {
    const { webhook } = this.#options
    if (webhook === undefined) await this.#call((abort) => this.#api.deleteWebhook({}, abort))
    else {
      const more = { secret_token: webhook.secret, allowed_updates: KINDS }
      await this.#call((abort) => this.#api.setWebhook(webhook.url, more, abort))
    }
  }

  /** Nobody writes for hours, and all is well: Telegram says whether it delivers. */
  async #watchWebhook(url: string, delivers: () => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#sleep(WEBHOOK_LOOK_MS)
      const info = await this.#call((abort) => this.#api.getWebhookInfo(abort))
      // Another program took it; it is set again.
      if (info.url !== url) throw platformError('conflict', 'Another program has the deliveries of this account.')
      delivers()
      // What waits is on its way, unless bringing it has failed since it was last known to work.
      const hasFailed = (info.last_error_date ?? 0) * 1_000 >= (this.#heardAtMs ?? 0)
      if (info.pending_update_count === 0 || !hasFailed) this.#heard()
    }
  }

  async #poll(delivers: () => void): Promise<void> {
    const { signal } = this.#stopped
    let offset: number | undefined
    for (let failures = 0; !signal.aborted; ) {
      const requested = { timeout: POLL_S, allowed_updates: KINDS, ...(offset === undefined ? {} : { offset }) }
      const updates = await this.#call((abort) => this.#api.getUpdates(requested, abort), POLL_TIMEOUT_MS)
      delivers()
      this.#heard()
      failures = (await this.#taker.takeAll(updates)) ? failures + 1 : 0
      // Only what the listener has taken is confirmed by the next request.
      const last = updates.at(-1)
      if (last) this.#taker.forget((offset = this.#taker.firstLeft(updates) ?? last.update_id + 1))
      if (failures > 0) await this.#sleep(Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), MAX_RETRY_MS))
    }
  }

  /** `false` when the listener has not taken it. */
  async #take(update: Update): Promise<boolean> {
    const { signal } = this.#stopped
    signal.throwIfAborted()
    try {
      const acknowledge = (id: string, text: string) => this.#acknowledge(id, text)
      const event = readUpdate(update, { bot: this.#bot!, acknowledge })
      if (event?.type === 'moved') this.#moved.set(event.fromChatId, event.toChatId)
      if (event) await this.#listener!.hear(event)
      return true
    } catch (error) {
      if (signal.aborted || isAbort(error)) throw error
      this.#options.logger.warn('An update of Telegram could not be kept; it is tried again.', {
        error: errorLine(error),
      })
      return false
    }
  }

  async #receive(request: Request): Promise<Response> {
    const { secret } = this.#options.webhook!
    if (!isSame(request.headers.get(SECRET_HEADER) ?? '', secret)) return new Response(null, { status: 401 })
    const update = await request.json().catch(() => null)
    if (!isUpdate(update)) return new Response(null, { status: 400 })
    // Telegram delivers it again.
    if (!this.#bot || this.#stopped.signal.aborted) return new Response(null, { status: 503 })
    try {
      const acknowledge = (id: string, text: string) => this.#acknowledge(id, text)
      const event = readUpdate(update, { bot: this.#bot, acknowledge })
      this.#heard()
      if (event) await this.#listener!.hear(event)
      return new Response(null, { status: 200 })
    } catch (error) {
      this.#options.logger.warn('An update of Telegram could not be kept; it is delivered again.', {
        error: errorLine(error),
      })
      return new Response(null, { status: 503 })
    }
  }

  async #acknowledge(queryId: string, text: string): Promise<void> {
    const answer = { text: text.slice(0, 200) }
    await this.#call((abort) => this.#api.answerCallbackQuery(queryId, answer, abort)).catch((error: unknown) => {
      // Too late for the little window; the message itself says what came of it.
      this.#options.logger.info('A pressed button was not acknowledged.', { error: errorLine(error) })
    })
  }

  async send(message: PlatformMessage): Promise<string> {
    const { target, replyTo } = message
    const { text, parse_mode: mode, ...other } = { parse_mode: undefined, ...shown(message) }
    const place = target.threadId === undefined ? {} : { message_thread_id: Number(target.threadId) }
    const answers =
      replyTo === undefined
        ? {}
        : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } }
    const around = { ...other, ...place, ...answers }
    const plain = { ...around, ...(mode ? { parse_mode: mode } : {}), link_preview_options: { is_disabled: true } }
    const sent = await this.#toChat(
      target,
      async (chatId, abort) =>
        (await this.#sendRich(chatId, message, around, abort)) ??
        (await this.#api.sendMessage(chatId, text, plain, abort)),
    )
    return String(sent.message_id)
  }

  /** A text with a table, shown as one; `null` where it surely was not sent, as the server has no such messages or does not take this one. */
  async #sendRich(
    chatId: string,
    { text, markup }: PlatformMessage,
    around: NonNullable<Parameters<Api['sendRichMessage']>[2]>,
    abort: Abort,
  ): Promise<{ readonly message_id: number } | null> {
    if (markup !== 'markdown' || !this.#hasRichMessages || !isForRich(text)) return null
    try {
      return await this.#api.sendRichMessage(chatId, { markdown: text, skip_entity_detection: true }, around, abort)
    } catch (error) {
      // A token that is not known is refused in the same way: the other method tells.
      if (isUnknownMethod(error)) {
        this.#hasRichMessages = false
        return null
      }
      const { failure } = failureOf(toPlatformError(error))
      if (movedTo(error) !== null || (failure !== 'rejected' && failure !== 'markup_refused')) throw error
      return null
    }
  }

  async sendFile(target: PlatformTarget, file: PlatformFile): Promise<string> {
    const way = methodFor(file)
    try {
      return await this.#sendFileBy(way, target, file)
    } catch (error) {
      // A picture that is too tall, or a voice message to whom they are not wanted, goes as it is.
      if (way === AS_IT_IS || !HermesError.isInstance(error) || error.code !== 'platform.rejected') throw error
      return this.#sendFileBy(AS_IT_IS, target, file)
    }
  }

  async #sendFileBy(
    [method, field]: readonly [string, string],
    target: PlatformTarget,
    file: PlatformFile,
  ): Promise<string> {
    const { token, apiRoot = DEFAULT_API_ROOT, fetch } = this.#options
    const sent = await this.#toChat(
      target,
      async (chatId, abort) => {
        const form = new FormData()
        form.set('chat_id', chatId)
        if (target.threadId !== undefined) form.set('message_thread_id', target.threadId)
        form.set(field, new Blob([new Uint8Array(file.bytes)], { type: file.mediaType }), file.name)
        const request = { method: 'POST', body: form, signal: abort as unknown as AbortSignal }
        const response = await fetch(`${apiRoot}/bot${token}/${method}`, request)
        const body = (await response.json()) as {
          readonly ok: boolean
          readonly result: { readonly message_id: number }
        }
        if (!body.ok) throw body
        return body.result
      },
      FILE_TIMEOUT_MS,
    )
    return String(sent.message_id)
  }

  async edit(messageId: string, message: PlatformMessage): Promise<void> {
    const { text, ...other } = shown(message)
    await this.#toChat(message.target, async (chatId, abort) => {
      try {
        await this.#api.editMessageText(
          chatId,
          Number(messageId),
          text,
          { ...other, link_preview_options: { is_disabled: true } },
          abort,
        )
      } catch (error) {
        if (!isNotModified(error)) throw error
      }
    })
  }

  async draft(draftId: number, { target, text }: PlatformMessage): Promise<boolean> {
    const { chatId, threadId } = target
    // Private chats alone have drafts, and alone have ids above 0.
    if (!(Number(chatId) > 0) || this.#withoutDrafts.has(chatId) || this.#withoutDrafts.has(ALL_CHATS)) return false
    const place = threadId === undefined ? {} : { message_thread_id: Number(threadId) }
    try {
      await this.#once(
        (abort) => this.#api.sendMessageDraft(Number(chatId), draftId, text, place, abort),
        CALL_TIMEOUT_MS,
      )
      return true
    } catch (error) {
      if (isUnknownMethod(error)) this.#withoutDrafts.add(ALL_CHATS)
      else if (failureOf(toPlatformError(error)).failure === 'rejected') this.#withoutDrafts.add(chatId)
      else throw toPlatformError(error)
      return false
    }
  }

  async showTyping(target: PlatformTarget): Promise<void> {
    const place = target.threadId === undefined ? {} : { message_thread_id: Number(target.threadId) }
    await this.#toChat(target, (chatId, abort) => this.#api.sendChatAction(chatId, 'typing', place, abort))
  }

  async react(target: PlatformTarget, messageId: string, emoji: string | null): Promise<void> {
    const reaction = emoji === null ? [] : [{ type: 'emoji', emoji: emoji as ReactionTypeEmoji['emoji'] } as const]
    await this.#toChat(target, (chatId, abort) =>
      this.#api.setMessageReaction(chatId, Number(messageId), reaction, {}, abort),
    )
  }

  async download(
    attachment: IncomingAttachment,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    if ((attachment.size ?? 0) > maxBytes) throw tooLarge(maxBytes)
    const { file_path: path } = await this.#call((abort) => this.#api.getFile(attachment.ref, abort))
    if (path === undefined) throw platformError('rejected', 'Telegram gives no address for this file.')
    const { token, apiRoot = DEFAULT_API_ROOT, fetch } = this.#options
    try {
      const response = await fetch(`${apiRoot}/file/bot${token}/${path}`, { signal })
      if (!response.ok) throw platformError('rejected', `Telegram does not give this file (${response.status}).`)
      return await bytesOf(response, maxBytes)
    } catch (error) {
      throw HermesError.isInstance(error) || signal.aborted ? error : toPlatformError(error)
    }
  }

  async probe(): Promise<string> {
    const { username } = await this.#call((abort) => this.#api.getMe(abort))
    return `@${username}`
  }

  async close(): Promise<void> {
    this.#stopped.abort(new DOMException('The platform is closed.', 'AbortError'))
    await this.#hearing
    await this.#taker.settled()
    this.#set({ type: 'closed' })
  }

  /** A group that became a supergroup is found under its new id. */
  async #toChat<Result>(
    target: PlatformTarget,
    call: (chatId: string, abort: Abort) => Promise<Result>,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<Result> {
    const chatId = this.#moved.get(target.chatId) ?? target.chatId
    try {
      return await this.#once((abort) => call(chatId, abort), timeoutMs)
    } catch (error) {
      const next = movedTo(error)
      if (next === null) throw toPlatformError(error)
      this.#moved.set(target.chatId, next)
      return this.#call((abort) => call(next, abort), timeoutMs)
    }
  }

  async #call<Result>(call: (abort: Abort) => Promise<Result>, timeoutMs = CALL_TIMEOUT_MS): Promise<Result> {
    try {
      return await this.#once(call, timeoutMs)
    } catch (error) {
      throw toPlatformError(error)
    }
  }

  /** A message that is being sent is sent to its end, also when the platform is being closed. */
  #once<Result>(call: (abort: Abort) => Promise<Result>, timeoutMs: number): Promise<Result> {
    const late = AbortSignal.timeout(timeoutMs)
    const signal = timeoutMs === POLL_TIMEOUT_MS ? AbortSignal.any([late, this.#stopped.signal]) : late
    return call(signal as unknown as Abort)
  }

  #heard(): void {
    this.#heardAtMs = this.#options.clock.now()
  }

  #set(state: PlatformState): void {
    if (this.#state.type === 'failed' && state.type !== 'closed') return
    this.#state = state
    this.#listener?.onState(state)
  }

  #sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms, this.#stopped.signal).catch((error: unknown) => {
      if (!isAbort(error)) throw error
    })
  }
}

/** As Telegram is told it; too long marked up, it goes as plain text. */
function shown({ text, markup, buttons }: PlatformMessage) {
  const keyboard: InlineKeyboardMarkup | undefined = buttons && {
    inline_keyboard: buttons.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data }))),
  }
  const html = markup === 'markdown' ? htmlOf(text) : null
  const words = html === null ? { text } : ({ text: html, parse_mode: 'HTML' } as const)
  return { ...words, ...(keyboard ? { reply_markup: keyboard } : {}) }
}

function isForRich(markdown: string): boolean {
  try {
    return isForRichMessage(markdown)
  } catch {
    return false
  }
}

function htmlOf(markdown: string): string | null {
  try {
    const html = toTelegramHtml(markdown)
    return html === '' ? null : html
  } catch {
    // Nested too deeply for the parser: it is readable as it is.
    return null
  }
}

/** What shows it as what it is. */
const AS_IT_IS: readonly [string, string] = ['sendDocument', 'document']

function methodFor({ kind, mediaType, bytes }: PlatformFile): readonly [method: string, field: string] {
  if (kind === 'image' && mediaType !== 'image/gif' && bytes.length <= MAX_PHOTO_BYTES) return ['sendPhoto', 'photo']
  if (kind === 'audio') return mediaType === 'audio/ogg' ? ['sendVoice', 'voice'] : ['sendAudio', 'audio']
  if (kind === 'video') return ['sendVideo', 'video']
  return AS_IT_IS
}

async function bytesOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isUpdate(value: unknown): value is Update {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Update>).update_id === 'number'
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function tooLarge(maxBytes: number): HermesError {
  return platformError('too_large', `The file is larger than ${Math.round(maxBytes / 1_048_576)} MB.`)
}

function badOptions(message: string): HermesError {
  return new HermesError(message, { code: 'platform.bad_options' })
}
