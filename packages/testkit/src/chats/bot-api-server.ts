// A Bot API as Telegram has it, on loopback: https://core.telegram.org/bots/api. It keeps what bots send, and lets a test be the people.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Record<string, unknown>

/** A message as a chat shows it. */
interface BotApiMessage {
  readonly message_id: number
  readonly chatId: number
  readonly text: string
  /** How it was marked up; `null` for plain text. */
  readonly parseMode: string | null
  readonly replyTo: number | null
  readonly threadId: number | null
  readonly buttons: readonly (readonly { readonly text: string; readonly callback_data: string }[])[]
  readonly edits: number
  /** The file that it is. */
  readonly file?: { readonly kind: string; readonly name: string; readonly bytes: Uint8Array }
}

/** What goes wrong with the next calls of a method. */
type BotApiFault =
  /** Accepted, and the connection ends without an answer. */
  | { readonly type: 'accepted-unheard' }
  /** The connection ends before anything was looked at. */
  | { readonly type: 'cut' }
  | { readonly type: 'error'; readonly code: number; readonly description: string; readonly parameters?: Json }

/** A server that a bot is connected to. */
export interface BotApiServer {
  /** For `apiRoot` of clients. */
  readonly url: string
  readonly token: string
  /** Methods that were called, in order. */
  readonly calls: readonly { readonly method: string; readonly payload: Json }[]
  /** What the bot sent to a chat, in order. */
  messages(chatId: number): readonly BotApiMessage[]
  /** Resolves once the chat is as wanted. */
  waitFor(
    chatId: number,
    isWanted: (messages: readonly BotApiMessage[]) => boolean,
    timeoutMs?: number,
  ): Promise<readonly BotApiMessage[]>
  /** A person writes; gives the id of the update. */
  say(text: string, from?: ChatPerson): number
  /** A person presses a button of a message. */
  press(message: BotApiMessage, data: string, from?: ChatPerson): number
  /** Any update, without its id. */
  push(update: Json): number
  /** Delivers updates once more that were confirmed. */
  repeat(updateId: number): void
  /** Updates that the bot has not confirmed. */
  readonly unconfirmed: number
  /** Reactions of the bot by message. */
  readonly reactions: ReadonlyMap<number, string | null>
  /** What callback queries were answered with. */
  readonly toasts: readonly string[]
  /** Files by id, for `getFile`. */
  readonly files: Map<string, Uint8Array>
  /** What drafts of private chats show, by chat; the message that takes the place of one ends it. */
  readonly drafts: ReadonlyMap<number, { readonly id: number; readonly text: string }>
  /** It has drafts from now on; before that it knows no such method, as servers of old. */
  offerDrafts(): void
  /** From now on it has rich messages; those that it takes have `rich` as their parse mode. */
  offerRichMessages(): void
  /** The next calls of a method fail; `count` of them, default one. */
  fail(method: string, fault: BotApiFault, count?: number): void
  /** Whether a call of the method is yet to fail. */
  willFail(method: string): boolean
  /** The token is good for nothing from now on, or again. */
  setRevoked(isRevoked: boolean): void
  /** Another program has updates delivered elsewhere. */
  useWebhook(url: string): void
  /** `getWebhookInfo` tells that a delivery failed at that time, in Unix seconds. */
  failDelivery(atS: number): void
  close(): Promise<void>
}

/** Who writes, and where. */
interface ChatPerson {
  /** Default 7. */
  readonly userId?: number
  readonly name?: string
  /** Default: the private chat of the user. */
  readonly chatId?: number
  readonly chatType?: 'private' | 'group' | 'supergroup' | 'channel'
  readonly title?: string
  readonly threadId?: number
  readonly isBot?: boolean
  readonly over?: Json
}

const BOT = {
  id: 110201543,
  is_bot: true,
  first_name: 'Hermes',
  username: 'hermes_test_bot',
  can_join_groups: true,
  can_read_all_group_messages: false,
  supports_inline_queries: false,
}
const MAX_TEXT = 4096
const TAGS = /<(\/?)([a-z-]+)((?:\s[^<>]*)?)>/g
const KNOWN_TAGS = new Set(['b', 'strong', 'i', 'em', 'u', 's', 'del', 'code', 'pre', 'a', 'blockquote', 'tg-spoiler'])

/** Starts one on a free port. */
export async function startBotApiServer(): Promise<BotApiServer> {
  const state = new BotApi()
  const server = createServer((request, response) => {
    state.answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    token: state.token,
    calls: state.calls,
    messages: (chatId) => state.messages(chatId),
    waitFor: (chatId, isWanted, timeoutMs = 20_000) => state.waitFor(chatId, isWanted, timeoutMs),
    say: (text, from = {}) => state.push({ message: state.message(text, from) }),
    press: (message, data, from = {}) => state.press(message, data, from),
    push: (update) => state.push(update),
    repeat: (updateId) => state.repeat(updateId),
    get unconfirmed() {
      return state.updates.length
    },
    reactions: state.reactions,
    toasts: state.toasts,
    files: state.files,
    drafts: state.drafts,
    offerRichMessages: () => {
      state.hasRichMessages = true
    },
    offerDrafts: () => {
      state.hasDrafts = true
    },
    fail: (method, fault, count = 1) => {
      for (let index = 0; index < count; index++) state.faults.push({ method, fault })
    },
    willFail: (method) => state.faults.some((one) => one.method === method),
    setRevoked: (isRevoked) => {
      state.isRevoked = isRevoked
    },
    useWebhook: (url) => {
      state.webhook = { url, secret: '' }
    },
    failDelivery: (atS) => {
      state.deliveryFailedAtS = atS
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

class BotApi {
  // Each server is another account: one account has one gateway on a machine, and tests run side by side.
  readonly token = `${BOT.id}:${randomBytes(17).toString('hex')}`
  readonly calls: { method: string; payload: Json }[] = []
  readonly reactions = new Map<number, string | null>()
  readonly toasts: string[] = []
  readonly files = new Map<string, Uint8Array>()
  readonly drafts = new Map<number, { readonly id: number; readonly text: string }>()
  hasDrafts = false
  hasRichMessages = false
  readonly faults: { readonly method: string; readonly fault: BotApiFault }[] = []
  updates: (Json & { readonly update_id: number })[] = []
  isRevoked = false
  deliveryFailedAtS: number | null = null
  readonly #all = new Map<number, Json & { readonly update_id: number }>()
  /** By chat, as tests look for those of one chat while thousands come. */
  readonly #sent = new Map<number, BotApiMessage[]>()
  readonly #waiting = new Set<() => void>()
  #poll: (() => void) | null = null
  #poller = 0
  #updateId = 500
  #messageId = 1000
  webhook: { readonly url: string; readonly secret: string } | null = null

  messages(chatId: number): readonly BotApiMessage[] {
    return [...(this.#sent.get(chatId) ?? [])]
  }

  async waitFor(chatId: number, isWanted: (messages: readonly BotApiMessage[]) => boolean, timeoutMs: number) {
    const late = AbortSignal.timeout(timeoutMs)
    while (!isWanted(this.messages(chatId))) {
      await new Promise<void>((resolve, reject) => {
        const fail = () =>
          reject(new Error(`chat ${chatId} is not as wanted: ${JSON.stringify(this.messages(chatId))}`))
        if (late.aborted) fail()
        late.addEventListener('abort', fail, { once: true })
        this.#waiting.add(() => {
          late.removeEventListener('abort', fail)
          resolve()
        })
      })
    }
    return this.messages(chatId)
  }

  message(text: string, from: ChatPerson): Json {
    const { userId = 7, name = 'Ada', chatType = 'private', title, threadId, isBot = false, over = {} } = from
    const chat = {
      id: from.chatId ?? userId,
      type: chatType,
      ...(title === undefined ? { first_name: name } : { title }),
    }
    return {
      message_id: ++this.#messageId,
      date: 1_700_000_000,
      from: { id: userId, is_bot: isBot, first_name: name },
      chat,
      text,
      ...(threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true }),
      ...over,
    }
  }

  press(message: BotApiMessage, data: string, from: ChatPerson): number {
    const { userId = 7, name = 'Ada', chatType = 'private' } = from
    const shown = {
      message_id: message.message_id,
      date: 1_700_000_000,
      chat: { id: message.chatId, type: chatType },
      from: BOT,
      text: message.text,
    }
    const who = { id: userId, is_bot: false, first_name: name }
    return this.push({
      callback_query: { id: `q${this.#updateId + 1}`, from: who, chat_instance: '1', data, message: shown },
    })
  }

  push(update: Json): number {
    const full = { update_id: ++this.#updateId, ...update }
    this.#all.set(full.update_id, full)
    this.updates.push(full)
    this.#deliver()
    return full.update_id
  }

  repeat(updateId: number): void {
    const update = this.#all.get(updateId)
    if (update) this.updates.unshift(update)
    this.#deliver()
  }

  #deliver(): void {
    this.#poll?.()
    if (this.webhook) void this.#post(this.webhook)
  }

  async #post({ url, secret }: { readonly url: string; readonly secret: string }): Promise<void> {
    for (const update of [...this.updates]) {
      const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(update) }).catch(() => null)
      if (response?.ok) this.updates = this.updates.filter((one) => one !== update)
      else return
    }
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://bot.test')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(url.pathname)
    if (file) {
      const bytes = file[1] === this.token ? this.files.get(decodeURIComponent(file[2]!)) : undefined
      response.writeHead(bytes ? 200 : 404).end(bytes)
      return
    }
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(url.pathname) ?? []
    const payload = await payloadOf(Buffer.concat(chunks), request.headers['content-type'] ?? '')
    this.calls.push({ method, payload })
    const end = (body: Json) => {
      response.writeHead(body['ok'] ? 200 : (body['error_code'] as number), { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (token !== this.token || this.isRevoked) return end(failed(401, 'Unauthorized'))
    const at = this.faults.findIndex((one) => one.method === method)
    const fault = at < 0 ? null : this.faults.splice(at, 1)[0]!.fault
    if (fault?.type === 'cut') return void response.destroy()
    if (fault?.type === 'error')
      return end({
        ...failed(fault.code, fault.description),
        ...(fault.parameters ? { parameters: fault.parameters } : {}),
      })
    const result = method === 'getUpdates' ? await this.#getUpdates(payload, request) : this.#call(method, payload)
    if (fault?.type === 'accepted-unheard') return void response.destroy()
    end(result)
  }

  async #getUpdates({ offset, timeout = 0, limit = 100 }: Json, request: IncomingMessage): Promise<Json> {
    if (this.webhook)
      return failed(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      )
    const poller = ++this.#poller
    const isNewer = () => poller !== this.#poller
    this.#poll?.()
    if (typeof offset === 'number') this.updates = this.updates.filter(({ update_id }) => update_id >= offset)
    if (this.updates.length === 0 && Number(timeout) > 0) {
      let timer: NodeJS.Timeout | undefined
      let done: (() => void) | undefined
      await new Promise<void>((resolve) => {
        this.#poll = resolve
        timer = setTimeout(resolve, Number(timeout) * 1000)
        timer.unref()
        done = resolve
        request.socket.once('close', done)
      })
      clearTimeout(timer)
      // Clients ask again over the same connection.
      if (done) request.socket.off('close', done)
      if (isNewer())
        return failed(
          409,
          'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        )
      this.#poll = null
    }
    return ok(this.updates.slice(0, Number(limit)))
  }

  #call(method: string, payload: Json): Json {
    switch (method) {
      case 'getMe':
        return ok(BOT)
      case 'sendMessage':
        return this.#send(payload)
      case 'sendRichMessage': {
        if (!this.hasRichMessages) return failed(404, 'Not Found')
        const { rich_message: rich, ...around } = payload as Json & { rich_message: { markdown: string } }
        return this.#send({ ...around, text: rich.markdown, parse_mode: 'rich' })
      }
      case 'sendPhoto':
      case 'sendVoice':
      case 'sendAudio':
      case 'sendVideo':
      case 'sendDocument':
        return this.#sendFile(payload, method.slice('send'.length).toLowerCase())
      case 'editMessageText':
        return this.#edit(payload)
      case 'sendMessageDraft':
        return this.hasDrafts ? this.#draft(payload) : failed(404, 'Not Found')
      case 'sendChatAction':
      case 'setMyCommands':
      case 'deleteMessage':
        return ok(true)
      case 'setMessageReaction': {
        const reaction = (payload['reaction'] as { emoji: string }[] | undefined)?.[0]
        this.reactions.set(Number(payload['message_id']), reaction?.emoji ?? null)
        return ok(true)
      }
      case 'answerCallbackQuery':
        this.toasts.push(String(payload['text'] ?? ''))
        return ok(true)
      case 'getFile': {
        const id = String(payload['file_id'])
        const bytes = this.files.get(id)
        return bytes
          ? ok({ file_id: id, file_unique_id: id, file_size: bytes.length, file_path: id })
          : failed(400, 'Bad Request: invalid file_id')
      }
      case 'setWebhook':
        this.webhook = { url: String(payload['url']), secret: String(payload['secret_token'] ?? '') }
        this.#deliver()
        return ok(true)
      case 'getWebhookInfo': {
        const { url = '' } = this.webhook ?? {}
        const failure = this.deliveryFailedAtS === null ? {} : { last_error_date: this.deliveryFailedAtS }
        return ok({ url, has_custom_certificate: false, pending_update_count: this.updates.length, ...failure })
      }
      case 'deleteWebhook':
        this.webhook = null
        return ok(true)
      default:
        return failed(404, 'Not Found')
    }
  }

  #send(payload: Json): Json {
    const problem = problemOf(payload)
    if (problem) return problem
    const message = {
      ...shownOf(payload),
      message_id: ++this.#messageId,
      chatId: Number(payload['chat_id']),
      replyTo: ((payload['reply_parameters'] as Json | undefined)?.['message_id'] as number | undefined) ?? null,
      threadId: (payload['message_thread_id'] as number | undefined) ?? null,
      edits: 0,
    }
    this.drafts.delete(message.chatId)
    this.#keep(message)
    return ok({
      message_id: message.message_id,
      date: 1_700_000_000,
      chat: { id: message.chatId, type: 'private' },
      from: BOT,
      text: message.text,
    })
  }

  #draft(payload: Json): Json {
    const [chatId, id] = [Number(payload['chat_id']), Number(payload['draft_id'])]
    if (!(chatId > 0)) return failed(400, 'Bad Request: TEXTDRAFT_PEER_INVALID')
    if (!Number.isInteger(id) || id === 0) return failed(400, 'Bad Request: draft_id is invalid')
    const problem = problemOf(payload)
    if (problem) return problem
    this.drafts.set(chatId, { id, text: shownOf(payload).text })
    this.#tell()
    return ok(true)
  }

  #sendFile(payload: Json, kind: string): Json {
    const file = payload[kind] as { readonly name: string; readonly bytes: Uint8Array } | undefined
    if (!file) return failed(400, `Bad Request: there is no ${kind} in the request`)
    const message_id = ++this.#messageId
    const place = { message_id, chatId: Number(payload['chat_id']), threadId: null, replyTo: null, edits: 0 }
    this.#keep({ ...place, text: '', parseMode: null, buttons: [], file: { kind, ...file } })
    return ok({ message_id, date: 1_700_000_000, chat: { id: place.chatId, type: 'private' }, from: BOT })
  }

  #edit(payload: Json): Json {
    const problem = problemOf(payload)
    if (problem) return problem
    const inChat = this.#sent.get(Number(payload['chat_id'])) ?? []
    const at = inChat.findIndex(({ message_id }) => message_id === payload['message_id'])
    const message = inChat[at]
    if (!message) return failed(400, 'Bad Request: message to edit not found')
    const shown = shownOf(payload)
    if (message.text === shown.text && JSON.stringify(message.buttons) === JSON.stringify(shown.buttons))
      return failed(
        400,
        'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
      )
    inChat[at] = { ...message, ...shown, edits: message.edits + 1 }
    this.#tell()
    return ok({
      message_id: message.message_id,
      date: 1_700_000_000,
      chat: { id: message.chatId, type: 'private' },
      text: shown.text,
    })
  }

  #keep(message: BotApiMessage): void {
    const inChat = this.#sent.get(message.chatId) ?? []
    inChat.push(message)
    this.#sent.set(message.chatId, inChat)
    this.#tell()
  }

  #tell(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const look of waiting) look()
  }
}

const ok = (result: unknown): Json => ({ ok: true, result })
const failed = (code: number, description: string): Json => ({ ok: false, error_code: code, description })

/** JSON, or a form with files. */
async function payloadOf(body: Buffer, type: string): Promise<Json> {
  if (body.length === 0) return {}
  if (!type.startsWith('multipart/form-data')) return JSON.parse(body.toString()) as Json
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  const fields = [...form].map(async ([name, value]): Promise<readonly [string, unknown]> => {
    if (typeof value === 'string') return [name, value]
    return [name, { name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) }]
  })
  return Object.fromEntries(await Promise.all(fields))
}

function shownOf(payload: Json) {
  const markup = payload['reply_markup'] as { readonly inline_keyboard?: BotApiMessage['buttons'] } | undefined
  const html = payload['parse_mode'] === 'HTML'
  const text = html ? withoutTags(String(payload['text'])) : String(payload['text'])
  return {
    text,
    parseMode: (payload['parse_mode'] as string | undefined) ?? null,
    buttons: markup?.inline_keyboard ?? [],
  }
}

function problemOf(payload: Json): Json | null {
  const text = payload['text']
  if (typeof text !== 'string') return failed(400, 'Bad Request: message text is empty')
  if (!text.isWellFormed()) return failed(400, 'Bad Request: strings must be encoded in UTF-8')
  if (payload['parse_mode'] === 'HTML') {
    const problem = entityProblem(text)
    if (problem) return failed(400, `Bad Request: can't parse entities: ${problem}`)
  }
  const shown = shownOf(payload).text
  if (shown.trim() === '') return failed(400, 'Bad Request: message text is empty')
  if (shown.length > MAX_TEXT) return failed(400, 'Bad Request: message is too long')
  const markup = payload['reply_markup'] as { readonly inline_keyboard?: BotApiMessage['buttons'] } | undefined
  const isInvalid = markup?.inline_keyboard?.flat().some(({ callback_data }) => Buffer.byteLength(callback_data) > 64)
  return isInvalid ? failed(400, 'Bad Request: BUTTON_DATA_INVALID') : null
}

function entityProblem(text: string): string | null {
  const open: string[] = []
  for (const [, end, name = ''] of text.matchAll(TAGS)) {
    if (!KNOWN_TAGS.has(name)) return `Unsupported start tag "${name}"`
    if (!end) open.push(name)
    else if (open.pop() !== name) return `Unmatched end tag "${name}"`
  }
  if (open.length > 0) return `Can't find end tag corresponding to start tag "${open.at(-1)}"`
  const rest = text.replace(TAGS, '')
  if (/[<>]/.test(rest)) return 'Unsupported start tag ""'
  return null
}

function withoutTags(html: string): string {
  return html
    .replace(TAGS, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
